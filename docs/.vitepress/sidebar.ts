import type { SitePage } from './readPages.ts'

/** An entry of the sidebar. */
export interface SidebarItem {
  readonly text: string
  readonly link: string
}

/** A group of the sidebar. */
export interface SidebarGroup {
  readonly text: string
  /** A collapsed group needs a link: without one, VitePress puts a button into a button. */
  readonly collapsed?: boolean
  readonly link?: string
  readonly items: readonly (SidebarItem | SidebarGroup)[]
}

/**
 * A page with its short title. A path that ends in `/*` adds all pages of a folder that are not listed by name, with their own titles.
 * An anchor links to a section. A page that does not exist is skipped.
 */
type PageEntry = readonly [path: string, text?: string]

interface GroupEntry {
  readonly text: string
  /** The page that the title of the group links to. Such a group starts collapsed. */
  readonly page?: string
  readonly entries: readonly (PageEntry | GroupEntry)[]
}

const groups: readonly GroupEntry[] = [
  {
    text: 'Get started',
    entries: [
      ['start/first-call.md', 'Your first call'],
      ['start.md', 'TypeScript'],
      ['python.md', 'Python'],
      ['start/curl.md', 'curl'],
      ['packages/create-keyrail.md', 'React and Next.js templates'],
      ['service/running.md', 'Self-hosting'],
      ['examples/index.md', 'Examples'],
    ],
  },
  {
    text: 'Guides',
    entries: [
      ['choosing.md', 'Choose failover, retries, budgets'],
      ['viem.md', 'Use viem'],
      ['wagmi.md', 'Use wagmi'],
      ['ethers.md', 'Use ethers'],
      ['web3.md', 'Use web3.js'],
      ['fetch.md', 'Use the typed client'],
      ['contracts.md', 'Read contracts'],
      ['transport/safe-writes.md', 'Send a transaction once'],
      ['logs.md', 'Read logs of any range'],
      ['cli/logs.md', 'Export logs to a file'],
      ['subscriptions.md', 'Subscribe to blocks and logs'],
      ['frameworks.md', 'Use Next.js and Vite'],
      ['front-end-keys.md', 'Protect a key in a front end'],
      ['hardhat-foundry.md', 'Use Hardhat and Foundry'],
      ['go-java.md', 'Use Go and Java'],
      ['msw.md', 'Test with a mock node: Jest, Vitest'],
      ['chains.md', 'Use other chains'],
      ['dashboard.md', 'Use the dashboard'],
      ['second-factor.md', 'Add a second factor'],
      ['service/control-api.md', 'Use the control API'],
      {
        text: 'Python',
        entries: [
          ['python/calls.md', 'Calls, batches, transactions'],
          ['python/failover.md', 'Failover, budgets, cache'],
          ['python/logs.md', 'Logs and Parquet'],
          ['python/subscriptions.md', 'Subscriptions'],
          ['python/observe.md', 'Hooks, counters, tracing'],
          ['python/connections.md', 'Keys, proxies, processes'],
          ['python/testing.md', 'Test with a mock node'],
        ],
      },
    ],
  },
  {
    text: 'Concepts',
    page: 'concepts.md',
    entries: [
      ['concepts.md', 'Overview'],
      ['concepts.md#networks', 'Networks'],
      ['concepts.md#keys', 'Keys'],
      ['concepts.md#failures', 'Failures'],
      ['concepts.md#limits', 'Limits'],
      ['concepts.md#retries-and-deadlines', 'Retries and deadlines'],
      ['concepts.md#subscriptions', 'Subscriptions'],
    ],
  },
  {
    text: 'Reference',
    page: 'transport.md',
    entries: [
      ['transport.md', 'Options of the transport'],
      { text: 'Features of the transport', page: 'transport.md#features', entries: [['transport/*']] },
      ['failures.md', 'Failures'],
      ['cli.md', 'Command line'],
      ['cli/*'],
      ['reference/configuration.md', 'Service configuration'],
      ['reference/control-api.md', 'Control API'],
      ['reference/log-codes.md', 'Codes in the log'],
      ['reference/*'],
      { text: 'TypeScript API', page: 'api/index.md', entries: [['api/*']] },
      ['api/python.md', 'Python API'],
      ['api/python-testing.md', 'Python mock node API'],
      { text: 'Packages', page: 'readme.md#packages', entries: [['packages/*']] },
    ],
  },
  {
    text: 'Operate',
    page: 'service/running.md',
    entries: [
      ['service/running.md', 'Run the service'],
      ['service/deploying.md', 'Deploy'],
      ['service/operating.md', 'Accounts, backups, secret'],
      ['service/monitoring.md', 'Monitoring'],
      ['service/runbook.md', 'Runbook'],
      ['service/tracing.md', 'Tracing'],
      ['service/networks.md', 'Networks'],
      ['service/methods.md', 'Methods'],
      ['service/upstreams.md', 'Nodes and failover'],
      ['service/vendors.md', 'Vendors'],
      ['service/confirmed-reads.md', 'Confirmed reads'],
      ['service/chain-store.md', 'Chain store'],
      ['service/limits.md', 'Limits and metering'],
      ['service/guarantees.md', 'Guarantees of limits'],
      ['service/subscriptions.md', 'WebSockets'],
      ['service/email.md', 'Email'],
      ['service/single-sign-on.md', 'Single sign-on'],
      ['service/second-factor.md', 'Second factors'],
      ['service/teams.md', 'Teams'],
      ['service/alerts.md', 'Alerts'],
      ['service/*'],
      ['service/sizing.md', 'Sizing'],
      ['service/upgrading.md', 'Upgrades and backups'],
      ['service/threat-model.md', 'Threat model'],
    ],
  },
  {
    text: 'Migrate',
    page: 'migrate/viem.md',
    entries: [
      ['migrate/viem.md', 'From viem'],
      ['migrate/ethers.md', 'From ethers'],
      ['migrate/web3.md', 'From web3.js'],
      ['migrate/web3py.md', 'From web3.py'],
      ['migrate/alchemy-sdk.md', 'From the Alchemy SDK'],
      ['migrate/self-hosted.md', 'From a provider to your own nodes'],
      ['migrate/erpc.md', 'From eRPC'],
      ['migrate/*'],
    ],
  },
  {
    text: 'Compare',
    page: 'compare.md',
    entries: [
      ['compare.md', 'With providers and proxies'],
      { text: 'Measurements', page: 'bench/results.md', entries: [['bench/*']] },
    ],
  },
  {
    text: 'More',
    page: 'faq.md',
    entries: [
      ['faq.md', 'FAQ'],
      ['changelog.md', 'Changelog'],
      { text: 'Example programs', page: 'examples/index.md', entries: [['examples/*']] },
      { text: 'Decisions', page: 'decisions/index.md', entries: [['decisions/*']] },
    ],
  },
]

/**
 * Creates the sidebar. It contains every page. Pages that are not listed above, by name or by folder, are in the section "Project".
 * @param pages - The pages of the site.
 */
export function sidebar(pages: readonly SitePage[]): readonly SidebarGroup[] {
  const byPath = new Map(pages.map((page) => [page.path, page]))
  const listed = new Set(['index.md', ...groups.flatMap(listPaths)])
  const rest = [...byPath.keys()].filter((path) => !listed.has(path))
  const toItem = (path: string, text?: string): SidebarItem[] => {
    const page = byPath.get(path.replace(/#.*/, ''))
    return page ? [{ text: text ?? page.title, link: `/${path}` }] : []
  }
  const toItems = ([path, text]: PageEntry): SidebarItem[] => {
    if (!path.endsWith('/*')) return toItem(path, text)
    const folder = path.slice(0, -1)
    // Several READMEs are headed keyrail.
    const isPackage = folder === 'packages/'
    return rest
      .filter((one) => one.startsWith(folder))
      .flatMap((one) => toItem(one, isPackage ? one.slice(folder.length, -'.md'.length) : undefined))
  }
  const toGroup = ({ text, page, entries }: GroupEntry): SidebarGroup => ({
    text,
    ...(page !== undefined && { collapsed: true, link: `/${page}` }),
    items: entries.flatMap((entry): (SidebarItem | SidebarGroup)[] =>
      isGroup(entry) ? [toGroup(entry)] : [...toItems(entry)],
    ),
  })
  const folders = groups.flatMap(listPaths).filter((path) => path.endsWith('/*'))
  const project: SidebarGroup = {
    text: 'Project',
    collapsed: true,
    link: '/contributing.md',
    items: rest
      .filter((path) => !folders.some((folder) => path.startsWith(folder.slice(0, -1))))
      .flatMap((path) => toItem(path)),
  }
  return [...groups.map(toGroup), project].filter(({ items }) => items.length > 0)
}

const isGroup = (entry: PageEntry | GroupEntry): entry is GroupEntry => 'text' in entry

const listPaths = ({ page, entries }: GroupEntry): string[] => [
  ...(page === undefined ? [] : [page]),
  ...entries.flatMap((entry) => (isGroup(entry) ? listPaths(entry) : [entry[0]])),
]
