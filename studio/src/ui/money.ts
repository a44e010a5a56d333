import { useSession } from '../api/session.ts';

/** Cents are enough from here on; smaller costs have two digits that say something. */
const EXACT_FROM = 1;

/** Formats a cost: `$12.40`, `$0.00032`. The configured currency may be any text. */
export function money(value: number, currency: string): string {
  const digits: Intl.NumberFormatOptions =
    value === 0 || value >= EXACT_FROM
      ? { minimumFractionDigits: 2, maximumFractionDigits: 2 }
      : { minimumSignificantDigits: 2, maximumSignificantDigits: 2 };
  try {
    return new Intl.NumberFormat('en', { style: 'currency', currency, ...digits }).format(value);
  } catch {
    return `${new Intl.NumberFormat('en', digits).format(value)} ${currency}`;
  }
}

/** Formats costs in the currency of this server. */
export function useMoney(): (value: number) => string {
  const { currency } = useSession();
  return (value) => money(value, currency);
}
