import type { ReleaseGroup } from './readReleaseGroup.ts'

/** Propose the next version, publish the current one, or do nothing. */
export type ReleaseStep = 'propose' | 'publish' | 'nothing'

/**
 * Returns the next step of a release.
 * @param group - The version of the packages, and the changesets.
 * @param tags - The tags of the repository. A version with a tag is published.
 */
export function getReleaseStep(
  { version, changesets }: Pick<ReleaseGroup, 'version' | 'changesets'>,
  tags: readonly string[],
): ReleaseStep {
  if (changesets.length > 0) return 'propose'
  return version === '0.0.0' || tags.includes(`v${version}`) ? 'nothing' : 'publish'
}
