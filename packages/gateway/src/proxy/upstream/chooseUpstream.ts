import type { GroupMember } from './groupMember.ts'

/** What a call needs of the upstream that is chosen for it. */
export interface PickOptions {
  /** The call's method. Without it, any upstream may be chosen. */
  readonly method?: string | undefined
  /** Upstreams that must not be chosen, because they were tried already. */
  readonly tried?: readonly GroupMember[] | undefined
  /** The call can be retried on another upstream, so it may go to one whose circuit breaker is due for a trial. @default false */
  readonly mayBeTrial?: boolean | undefined
  /** Only an upstream whose last known head is at least this block may be chosen. */
  readonly minHead?: number | undefined
}

const anyUpstream: PickOptions = {}

/**
 * Chooses the upstream for a call: the first healthy one in the order of the config, else the first usable one. It does not spread the
 * load, so a caller's next read goes to the node that received its last write.
 * @param members - In the order of preference.
 * @returns `undefined` if no upstream is left.
 */
export const chooseUpstream = (
  members: readonly GroupMember[],
  options: PickOptions = anyUpstream,
): GroupMember | undefined => {
  for (const member of members) {
    const { health } = member
    const isReady = health.isHealthy() || (options.mayBeTrial === true && health.isTrialDue())
    if (isReady && isAllowed(member, options)) return member
  }
  return members.find((member) => member.health.isUsable() && isAllowed(member, options))
}

const isAllowed = (member: GroupMember, { tried, minHead }: PickOptions): boolean =>
  tried?.includes(member) !== true && (minHead === undefined || (member.head() ?? -1) >= minHead)
