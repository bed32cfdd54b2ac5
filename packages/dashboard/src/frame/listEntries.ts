import type { Theme } from '../control/theme.ts'
import type { Scope } from '../control/useMay.ts'
import { accountPages, appPages, appSettingsPages, keyPages, operatorPages } from '../parts/pageTable.ts'
import type { PageLink } from '../parts/pageTable.ts'

/** What choosing an entry does. */
export type Command =
  | { readonly kind: 'open'; readonly to: string; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: 'theme'; readonly theme: Theme }
  | { readonly kind: 'account'; readonly id: string }
  | { readonly kind: 'copyUrl'; readonly network: string }
  | { readonly kind: 'logOut' }

/** A page, an app, an API key or an action. */
export interface Entry {
  readonly title: string
  readonly what: string
  readonly command: Command
}

/** An app or an API key. */
interface Item {
  readonly kind: 'app' | 'apiKey'
  readonly id: string
  readonly name: string
}

/** What the entries depend on. */
export interface EntryContext {
  readonly may: (scope: Scope) => boolean
  readonly isOperator: boolean
  readonly theme: Theme
  /** The accounts of the user, and the id of the one that the pages show. */
  readonly accounts: readonly { readonly id: string; readonly title: string; readonly kind: 'personal' | 'team' }[]
  readonly account: string
  /** The app or API key of the page. */
  readonly open: Item | undefined
  /** The networks of its URLs; none if its key cannot be shown. */
  readonly urlNetworks: readonly { readonly network: string; readonly title: string }[]
  /** All apps and API keys of the account. */
  readonly items: readonly Item[]
}

const mainPages: readonly PageLink[] = [
  { to: '/apps', title: 'Apps' },
  { to: '/keys', title: 'Keys' },
  { to: '/apps/new', title: 'Create app', scope: 'apps:write' },
  { to: '/keys/new', title: 'Create API key', scope: 'keys:write' },
]

/** The actions that are the same for everyone, and who can use them. */
const actions: readonly {
  readonly title: string
  readonly command: Command
  readonly isShown?: (context: EntryContext) => boolean
}[] = [
  {
    title: 'Invite a member',
    command: { kind: 'open', to: '/account/members', params: {} },
    isShown: ({ may, accounts, account }) =>
      may('members') && accounts.some(({ id, kind }) => id === account && kind === 'team'),
  },
  { title: 'Create access token', command: { kind: 'open', to: '/account/tokens', params: {} } },
  {
    title: 'Use light colors',
    command: { kind: 'theme', theme: 'light' },
    isShown: ({ theme }) => theme !== 'light',
  },
  { title: 'Use dark colors', command: { kind: 'theme', theme: 'dark' }, isShown: ({ theme }) => theme !== 'dark' },
  {
    title: 'Use the colors of the system',
    command: { kind: 'theme', theme: 'system' },
    isShown: ({ theme }) => theme !== 'system',
  },
  { title: 'Log out', command: { kind: 'logOut' } },
]

/**
 * Lists where the user can go and what the user can do, in the current account: the pages of the open app or API key, other pages, actions, apps and
 * API keys, and the URLs to copy.
 */
export const listEntries = (context: EntryContext): readonly Entry[] => {
  const { may, isOperator, accounts, account, open, urlNetworks, items } = context
  const toEntries = (pages: readonly PageLink[], what: string, params: Record<string, string> = {}): readonly Entry[] =>
    pages
      .filter(({ scope }) => scope === undefined || may(scope))
      .map(({ to, title }) => ({ title, what, command: { kind: 'open', to, params } }))
  return [
    ...(open?.kind === 'app' ? toEntries([...appPages, ...appSettingsPages], open.name, { appId: open.id }) : []),
    ...(open?.kind === 'apiKey' ? toEntries(keyPages, open.name, { keyId: open.id }) : []),
    ...toEntries(mainPages, ''),
    ...toEntries(accountPages, 'Account'),
    ...(isOperator ? toEntries(operatorPages, 'Operator') : []),
    ...actions
      .filter(({ isShown }) => isShown?.(context) !== false)
      .map(({ title, command }): Entry => ({ title, what: 'Action', command })),
    ...accounts
      .filter(({ id }) => id !== account)
      .map(({ id, title }): Entry => ({
        title: `Switch to ${title}`,
        what: 'Account',
        command: { kind: 'account', id },
      })),
    ...items.map(({ id, name, kind }): Entry =>
      kind === 'app'
        ? { title: name, what: 'App', command: { kind: 'open', to: '/apps/$appId', params: { appId: id } } }
        : { title: name, what: 'API key', command: { kind: 'open', to: '/keys/$keyId', params: { keyId: id } } },
    ),
    ...urlNetworks.map(({ network, title }): Entry => ({
      title: `Copy URL on ${title}`,
      what: open?.name ?? '',
      command: { kind: 'copyUrl', network },
    })),
  ]
}
