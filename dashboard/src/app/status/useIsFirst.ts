/** Returns whether a value is still the first one that was known. */
import { useState } from "react";

export function useIsFirst<T>(value: T | undefined): boolean {
  const [first, setFirst] = useState(value);
  const [hasChanged, setChanged] = useState(false);
  if (first === undefined && value !== undefined) setFirst(value);
  if (first !== undefined && value !== first && !hasChanged) setChanged(true);
  return !hasChanged;
}
