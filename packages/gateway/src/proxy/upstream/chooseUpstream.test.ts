import { expect, test } from 'vitest'
import { chooseUpstream } from './chooseUpstream.ts'
import type { GroupMember } from './groupMember.ts'

type State = 'healthy' | 'trialDue' | 'usable' | 'down'

const createMember = (name: string, state: State): GroupMember => ({
  name,
  upstream: undefined as never,
  finality: undefined as never,
  head: () => (name === '0' ? undefined : Number(name)),
  observe: () => {},
  health: {
    isUsable: () => state !== 'down',
    isHealthy: () => state === 'healthy',
    isTrialDue: () => state === 'trialDue',
  } as GroupMember['health'],
})
const choose = (states: readonly State[], except?: number, mayBeTrial?: boolean): string | undefined => {
  const members = states.map((state, index) => createMember(String(index), state))
  const tried = members.filter((_, index) => index === except)
  return chooseUpstream(members, { tried, mayBeTrial })?.name
}

test.each<[string | undefined, readonly State[], (number | undefined)?, boolean?]>([
  ['0', ['healthy', 'healthy']],
  ['1', ['healthy', 'healthy'], 0],
  ['1', ['usable', 'healthy']],
  ['0', ['usable', 'usable']],
  ['1', ['down', 'usable']],
  ['1', ['trialDue', 'healthy']],
  ['0', ['trialDue', 'healthy'], undefined, true],
  ['1', ['trialDue', 'healthy'], 0, true],
  ['0', ['trialDue', 'down']],
  [undefined, ['healthy'], 0],
  [undefined, ['down', 'down']],
  [undefined, []],
])('chooses %s of %j, except %s, as a trial: %s', (chosen, states, except, mayBeTrial) => {
  expect(choose(states, except, mayBeTrial)).toBe(chosen)
})

test.each<[string | undefined, number, readonly State[]]>([
  ['1', 1, ['healthy', 'healthy']],
  ['2', 2, ['healthy', 'healthy', 'healthy']],
  ['2', 1, ['healthy', 'down', 'usable']],
  [undefined, 2, ['healthy', 'healthy']],
])(
  'chooses %s for a call that needs head %i of %j, of which each has its index as head and the first none',
  (chosen, minHead, states) => {
    const members = states.map((state, index) => createMember(String(index), state))
    expect(chooseUpstream(members, { minHead })?.name).toBe(chosen)
  },
)
