import type { CallScope } from './callScope.ts'
import type { PickOptions } from './chooseUpstream.ts'
import type { GroupMember } from './groupMember.ts'
import { waitForRoom } from './waitForRoom.ts'

/** Until when a call can wait, by `performance.now()`, and whether its caller does not need it any more. */
export interface Patience {
  readonly endsAt: number
  readonly isStopped: () => boolean
}

/**
 * Chooses an upstream, and waits if a budget is the only obstacle.
 * @returns `undefined`: there is none.
 */
export const pickWithRoom = async (
  scope: CallScope,
  options: PickOptions,
  patience: Patience,
): Promise<GroupMember | undefined> => {
  for (;;) {
    const member = scope.group.pick(options)
    if (member !== undefined) return member
    const room = drawWithin(scope, options, patience)
    // Another call can use in the meantime what was drawn for this one.
    if (room === undefined || !(await room) || patience.isStopped()) return undefined
  }
}

/**
 * Gets room in a budget, within the time of the call.
 * @returns Resolves to whether to pick again; `undefined`: nothing changes by waiting.
 */
export const drawWithin = (
  scope: CallScope,
  options: PickOptions,
  { endsAt }: Pick<Patience, 'endsAt'>,
): Promise<boolean> | undefined => {
  const deadlineMs = endsAt - performance.now()
  const room = deadlineMs <= 0 ? undefined : scope.group.drawRoom(options)
  if (room === undefined) return undefined
  return new Promise((resolve) => {
    const run = (): (() => void) => {
      resolve(true)
      return () => {}
    }
    waitForRoom(scope, { deadlineMs }, room, { run, reject: () => resolve(false) })
  })
}
