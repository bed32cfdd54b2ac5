import type { ReleaseGroup } from './readReleaseGroup.ts'

/** Propose the next version, publish the one that stands, or neither. */
export type ReleaseStep = 'propose' | 'publish' | 'nothing'

/**
 * Decides what a release needs next.
 * @param group - The packages' version, and the changesets that wait.
 * @param tags - The tags of the repository. What is tagged is published.
 */
export function releaseStep(
  { version, changesets }: Pick<ReleaseGroup, 'version' | 'changesets'>,
  tags: readonly string[],
): ReleaseStep {
  if (changesets.length > 0) return 'propose'
  return version === '0.0.0' || tags.includes(`v${version}`) ? 'nothing' : 'publish'
}
