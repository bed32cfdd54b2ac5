import type { StagedPage } from './stagePages.ts'

/** An entry of the sidebar. */
export interface SidebarItem {
  readonly text: string
  readonly link: string
}

/** A group of the sidebar. */
export interface SidebarGroup {
  readonly text: string
  readonly collapsed?: boolean
  readonly items: readonly SidebarItem[]
}

/** The sections with short titles, in display order. Pages that do not exist are skipped. */
const groups: readonly (readonly [title: string, pages: readonly (readonly [path: string, text: string])[]])[] = [
  [
    'Start',
    [
      ['start.md', 'Start in five minutes'],
      ['choosing.md', 'Failover, retries, budgets'],
      ['front-end-keys.md', 'Keys in a front end'],
      ['failures.md', 'Failures'],
      ['examples/index.md', 'Examples'],
    ],
  ],
  [
    'Packages',
    [
      ['fetch.md', 'fetch: the typed client'],
      ['chains.md', 'Chains and clients'],
      ['viem.md', 'viem'],
      ['contracts.md', 'Contracts, multicall, ENS'],
      ['wagmi.md', 'wagmi'],
      ['ethers.md', 'ethers'],
      ['web3.md', 'web3.js'],
      ['python.md', 'Python'],
      ['msw.md', 'msw: a mock node'],
      ['transport.md', 'core: the transport'],
      ['logs.md', 'Logs of any range'],
      ['subscriptions.md', 'Subscriptions'],
      ['cli.md', 'The command line'],
      ['cli/logs.md', 'keyrail logs'],
      ['snippets.md', 'snippets'],
    ],
  ],
  [
    'Migrate from',
    [
      ['migrate/viem.md', 'viem'],
      ['migrate/ethers.md', 'ethers'],
      ['migrate/web3.md', 'web3.js'],
      ['migrate/web3py.md', 'web3.py'],
      ['migrate/alchemy-sdk.md', 'the Alchemy SDK'],
    ],
  ],
  [
    'The service',
    [
      ['service/running.md', 'Running it'],
      ['service/operating.md', 'Operating it'],
      ['service/email.md', 'Email'],
      ['service/single-sign-on.md', 'Single sign-on'],
      ['service/alerts.md', 'Alerts'],
      ['service/upgrading.md', 'Upgrading and backups'],
      ['service/threat-model.md', 'Threat model'],
      ['service/deploying.md', 'Deploying'],
      ['service/sizing.md', 'Sizing'],
      ['service/networks.md', 'Networks'],
      ['service/upstreams.md', 'Nodes and failover'],
      ['service/subscriptions.md', 'WebSockets and subscriptions'],
      ['service/limits.md', 'Limits and metering'],
      ['service/control-api.md', 'The control API'],
      ['dashboard.md', 'The dashboard'],
    ],
  ],
]

/** Groups of all pages of a folder, closed at first. */
const folders: readonly (readonly [title: string, folder: string])[] = [
  ['Options of the transport', 'transport'],
  ['API reference', 'api'],
  ['Examples', 'examples'],
  ['READMEs', 'packages'],
  ['Decisions', 'decisions'],
  ['Measured', 'bench'],
]

/**
 * Creates the sidebar. It contains every page once. Pages that are not listed above are in the section "More".
 * @param pages - The pages of the site.
 */
export function sidebar(pages: readonly StagedPage[]): readonly SidebarGroup[] {
  const left = new Map(pages.filter(({ path }) => path !== 'index.md').map((page) => [page.path, page]))
  const take = (path: string, text?: string): SidebarItem[] => {
    const page = left.get(path)
    left.delete(path)
    return page ? [{ text: text ?? page.title, link: `/${path}` }] : []
  }
  const byHand = groups.map(([text, listed]): SidebarGroup => ({
    text,
    items: listed.flatMap(([path, short]) => take(path, short)),
  }))
  const byFolder = folders.map(([text, folder]): SidebarGroup => ({
    text,
    collapsed: true,
    items: [...left.keys()]
      .filter((path) => path.startsWith(`${folder}/`))
      .sort((a, b) => Number(b.endsWith('/index.md')) - Number(a.endsWith('/index.md')))
      // Two READMEs are headed keyrail.
      .flatMap((path) => take(path, folder === 'packages' ? path.slice('packages/'.length, -'.md'.length) : undefined)),
  }))
  const more: SidebarGroup = { text: 'More', collapsed: true, items: [...left.keys()].flatMap((path) => take(path)) }
  return [...byHand, ...byFolder, more].filter(({ items }) => items.length > 0)
}
