/**
 * What the contract suites assert with: chai and mocha of the one who runs them. Troupe does not depend on
 * either, and the rest of `troupe/testing` does not need them; so their absence is said where a suite is
 * called, not where this is loaded.
 */
const loaded = await import('chai').catch((cause: unknown) => ({ cause }));

/**
 * `needChaiAndMocha()` at the head of a suite throws an error that says what to install, or where to call it.
 */
export function needChaiAndMocha(): void {
  if ('cause' in loaded)
    throw new Error(
      'The contract suites of troupe/testing need chai 6. Install it beside troupe: npm install ' +
        '--save-dev chai@6 mocha',
      { cause: loaded.cause },
    );
  if (typeof describe !== 'function')
    throw new Error(
      'The contract suites of troupe/testing are mocha cases: call them from a spec that mocha runs (npx ' +
        'mocha my-store.spec.js).',
    );
}

// Never called where chai is absent: every suite asks first.
export const expect = ('cause' in loaded ? undefined : loaded.expect) as Chai.ExpectStatic;
