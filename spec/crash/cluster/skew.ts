/**
 * Loaded before a node: its wall clock is off by as many milliseconds as the campaign says, from now on. The monotonic
 * clock is not.
 */
const RealDate = Date;
let offMs = Number(process.env['SKEW_MS'] ?? 0);
const now = (): number => RealDate.now() + offMs;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, given: unknown[]) =>
    Reflect.construct(target, given.length === 0 ? [now()] : given) as Date,
  apply: () => new RealDate(now()).toString(),
  get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
});

process.on('message', (message: { readonly skewMs?: number }) => {
  offMs = message.skewMs ?? offMs;
});
process.channel?.unref();
