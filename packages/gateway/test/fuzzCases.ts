/**
 * Returns how many cases a fuzz test runs: `KEYRAIL_FUZZ_CASES`, which the weekly measurements set, or `byDefault`.
 * @throws {TypeError} if the variable is not a whole number above 0, because a test with no cases always passes.
 */
export const fuzzCases = (byDefault: number): number => {
  const given = process.env['KEYRAIL_FUZZ_CASES']
  const cases = given === undefined ? byDefault : Number(given)
  if (!Number.isSafeInteger(cases) || cases < 1)
    throw new TypeError('KEYRAIL_FUZZ_CASES must be a whole number above 0')
  return cases
}
