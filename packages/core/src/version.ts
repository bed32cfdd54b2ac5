/** The version of this package. `scripts/releaseVersion.ts` sets it. */
export const version = '0.0.0'
