import { expect, test } from 'vitest'
import { listEntries } from './listEntries.ts'
import type { EntryContext } from './listEntries.ts'

const context: EntryContext = {
  may: () => true,
  isOperator: false,
  theme: 'system',
  accounts: [{ id: 'usr_1', title: 'Personal', kind: 'personal' }],
  account: 'usr_1',
  open: undefined,
  urlNetworks: [],
  items: [],
}
const list = (part: Partial<EntryContext>): readonly string[] =>
  listEntries({ ...context, ...part }).map(({ title, what }) => `${what}: ${title}`)

test('lists the pages and actions of every user', () => {
  expect(list({})).toEqual(
    expect.arrayContaining([
      ': Create app',
      'Account: Security',
      'Action: Create access token',
      'Action: Use light colors',
      'Action: Use dark colors',
      'Action: Log out',
    ]),
  )
  expect(list({ theme: 'dark' })).toContain('Action: Use the colors of the system')
  expect(list({ theme: 'dark' })).not.toContain('Action: Use dark colors')
})

test.each<[string, string, Partial<EntryContext>]>([
  ['the pages of operators', 'Operator: Users', { isOperator: true }],
  [
    'the other accounts',
    'Account: Switch to Acme',
    { accounts: [...context.accounts, { id: 'acc_1', title: 'Acme', kind: 'team' }] },
  ],
  [
    'invites to a team',
    'Action: Invite a member',
    { accounts: [{ id: 'acc_1', title: 'Acme', kind: 'team' }], account: 'acc_1' },
  ],
  ['apps', 'App: Shop', { items: [{ kind: 'app', id: 'app_1', name: 'Shop' }] }],
  ['API keys', 'API key: Laptop', { items: [{ kind: 'apiKey', id: 'key_1', name: 'Laptop' }] }],
  ['the pages of the open app', 'Shop: Allow list', { open: { kind: 'app', id: 'app_1', name: 'Shop' } }],
  [
    'the URLs of the open app',
    'Shop: Copy URL on Base',
    { open: { kind: 'app', id: 'app_1', name: 'Shop' }, urlNetworks: [{ network: 'base', title: 'Base' }] },
  ],
])('lists %s only if there are any', (_what, entry, part) => {
  expect(list(part)).toContain(entry)
  expect(list({})).not.toContain(entry)
})

test('leaves out what the role of the user does not allow', () => {
  const shown = list({ may: () => false, accounts: [{ id: 'acc_1', title: 'Acme', kind: 'team' }], account: 'acc_1' })
  for (const hidden of [': Create app', ': Create API key', 'Account: Alerts', 'Action: Invite a member'])
    expect(shown).not.toContain(hidden)
})
