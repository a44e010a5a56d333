/** Stands for a port of which the code under test uses these members only. */
export function partsOf<T extends object>(parts: Partial<NoInfer<T>>): T {
  return parts as T;
}
