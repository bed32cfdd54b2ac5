/**
 * How many cases a fuzz test runs: `KEYRAIL_FUZZ_CASES`, as CI sets it, or else what the test says.
 * @throws {TypeError} where the variable is no whole number above 0, since a test of no cases would hold of anything.
 */
export const fuzzCases = (byDefault: number): number => {
  const given = process.env['KEYRAIL_FUZZ_CASES']
  const cases = given === undefined ? byDefault : Number(given)
  if (!Number.isSafeInteger(cases) || cases < 1)
    throw new TypeError('KEYRAIL_FUZZ_CASES must be a whole number above 0')
  return cases
}
