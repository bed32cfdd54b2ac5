import type { GroupMember } from './groupMember.ts'

/**
 * Chooses the upstream for a call: the first healthy one in the order of the config, else the first usable one. It does not spread the
 * load, so a caller's next read goes to the node that received its last write.
 * @param members - In the order of preference.
 * @param except - An upstream that must not be chosen, because it was tried already.
 * @param mayBeTrial - The call can be retried on another upstream, so it may go to one whose circuit breaker is due for a trial.
 * @returns `undefined` if no upstream is left.
 */
export const chooseUpstream = (
  members: readonly GroupMember[],
  except?: GroupMember,
  mayBeTrial = false,
): GroupMember | undefined => {
  for (const member of members)
    if (member !== except && (member.health.isHealthy() || (mayBeTrial && member.health.isTrialDue()))) return member
  return members.find((member) => member !== except && member.health.isUsable())
}
