/**
 * Records whose members are named by machines and callers: a name like `constructor` must not find what every
 * object inherits, and `__proto__` must not change what it inherits.
 */
export function own<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

export function setOwn<Value>(record: Record<string, Value>, name: string, value: Value): void {
  if (name === '__proto__')
    Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true });
  else record[name] = value;
}
