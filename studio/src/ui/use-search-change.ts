import { useNavigate } from '@tanstack/react-router';

/** Changes the search parameters of the address, such as filters and selections. The others stay. */
export function useSearchChange<Search extends object>(): (change: Search) => void {
  const navigate = useNavigate();
  return (change) =>
    void navigate({ to: '.', search: (before: object) => ({ ...before, ...change }), replace: true });
}
