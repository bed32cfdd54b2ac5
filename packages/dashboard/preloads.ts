import type { Plugin, Rolldown } from 'vite'

// What each page needs besides the scripts that every page has. The service sends it with the page in a `Link` header, so that the browser loads
// all of it at once rather than after the scripts that ask for it. `test/roundTrips.verify.ts` compares the tables with what pages load.

/** A page, or the frame of several: its path, the files in `src/pages/` and the paths of the control API. */
interface PageFiles {
  readonly path: string
  readonly pages: readonly string[]
  readonly data?: readonly string[]
}

/** Of the frame of all pages for users who are logged in. */
const frameData = ['/api/session', '/api/accounts', '/api/deployment']

const [keyUsage, activity, networks] = ['/api/usage', '/api/activity', '/api/networks/status']

const apps: Omit<PageFiles, 'path'> = { pages: ['Apps'], data: [keyUsage, '/api/apps?limit=48', activity, networks] }

/** A page of an app. */
const inApp = (path: string, pages: readonly string[], data: readonly string[] = []): PageFiles => ({
  path: `/apps/{appId}${path}`,
  pages: ['app/AppFrame', ...pages.map((page) => `app/${page}`)],
  data: ['/api/apps/{appId}', '/api/apps/{appId}/usage', '/api/apps/{appId}/origins', activity, ...data],
})

/** A page of an API key. */
const inKey = (path: string, page: string, data: readonly string[] = []): PageFiles => ({
  path: `/keys/{keyId}${path}`,
  pages: ['key/KeyFrame', `key/${page}`],
  data: ['/api/keys/{keyId}', keyUsage, '/api/keys/{keyId}/origins', ...data],
})

const inAccount = (path: string, page: string, data: readonly string[] = []): PageFiles => ({
  path: `/account${path}`,
  pages: ['account/AccountFrame', `account/${page}`],
  data: [keyUsage, ...data],
})

const inOperator = (path: string, page: string, data: readonly string[] = []): PageFiles => ({
  path: `/operator${path}`,
  pages: ['operator/OperatorFrame', `operator/${page}`],
  data: [keyUsage, ...data],
})

const appSetUp = [
  '/api/apps/{appId}/metrics?range=quarter',
  '/api/apps/{appId}/allow-list',
  '/api/apps/{appId}/jwt-keys',
  '/api/alerts',
]
const keySetUp = ['/api/keys/{keyId}/metrics?range=quarter']

const inside: readonly PageFiles[] = [
  { path: '/', ...apps },
  { path: '/apps', ...apps },
  // Before those of an app, whose paths it matches too.
  { path: '/apps/new', pages: ['NewApp'], data: [keyUsage, '/api/apps?limit=48'] },
  inApp('', ['AppSetup'], appSetUp),
  inApp('/setup', ['AppSetup'], appSetUp),
  inApp('/metrics', ['AppMetrics'], ['/api/apps/{appId}/metrics?range=hour']),
  inApp(
    '/requests',
    ['AppRequests'],
    ['/api/apps/{appId}/metrics?range=week', '/api/apps/{appId}/requests?limit=100', '/api/apps/{appId}/saved-filters'],
  ),
  inApp('/networks', ['AppNetworks'], ['/api/keys', networks]),
  inApp(
    '/settings/advanced',
    ['AppSettings', 'AppAdvanced'],
    ['/api/apps/{appId}/key/traffic', '/api/apps/{appId}/contract-errors'],
  ),
  inApp('/settings/allow-list', ['AppSettings', 'AppAllowList'], ['/api/apps/{appId}/allow-list']),
  inApp('/settings/jwt-keys', ['AppSettings', 'AppJwtKeys'], ['/api/apps/{appId}/jwt-keys']),
  inApp('/settings/delete', ['AppSettings', 'AppDelete']),
  { path: '/keys', pages: ['Keys'], data: [keyUsage, '/api/keys', '/api/apps?limit=48', activity] },
  { path: '/keys/new', pages: ['NewKey'], data: [keyUsage, '/api/keys'] },
  inKey('', 'KeySetup', keySetUp),
  inKey('/setup', 'KeySetup', keySetUp),
  inKey('/metrics', 'KeyMetrics', ['/api/keys/{keyId}/metrics?range=hour']),
  inKey('/requests', 'KeyRequests', [
    '/api/keys/{keyId}/metrics?range=week',
    '/api/keys/{keyId}/requests?limit=100',
    '/api/keys/{keyId}/saved-filters',
  ]),
  inKey('/settings', 'KeySettings', ['/api/keys/{keyId}/traffic']),
  inAccount('', 'AccountUsage', [activity, '/api/metrics?range=month', '/api/metrics?range=hour']),
  inAccount('/members', 'AccountMembers', ['/api/members']),
  inAccount('/alerts', 'AccountAlerts', ['/api/alerts']),
  inAccount('/tokens', 'AccountTokens', ['/api/tokens']),
  inAccount('/audit', 'AccountAudit', ['/api/audit-log?limit=50']),
  inAccount('/security', 'AccountSecurity', ['/api/account/factors', '/api/account/sessions']),
  inOperator('', 'OperatorOverview', ['/api/admin/overview', '/api/admin/upstreams']),
  inOperator('/users', 'OperatorUsers', ['/api/admin/users?limit=50']),
  inOperator('/users/{userId}', 'OperatorUser', [
    '/api/admin/users/{userId}',
    '/api/admin/users/{userId}/usage',
    '/api/admin/users/{userId}/metrics?range=month',
  ]),
  inOperator('/teams', 'OperatorTeams', ['/api/admin/accounts?limit=50']),
  inOperator('/teams/{accountId}', 'OperatorTeam', ['/api/admin/accounts/{accountId}']),
  inOperator('/upstreams', 'OperatorUpstreams', ['/api/admin/upstreams', '/api/admin/upstreams/days']),
  inOperator('/invites', 'OperatorInvites', ['/api/admin/invites']),
  inOperator('/audit', 'OperatorAudit', ['/api/admin/audit-log?limit=50']),
]

const table: readonly PageFiles[] = [
  ...inside.map(({ data = [], ...page }) => ({ ...page, data: [...frameData, ...data] })),
  { path: '/sign-up', pages: ['SignUp'] },
]

/** Returns the scripts that a script imports statically, and itself. */
function withImports(file: string, bundle: Rolldown.OutputBundle, seen = new Set<string>()): Set<string> {
  const chunk = bundle[file]
  if (seen.has(file) || chunk?.type !== 'chunk') return seen
  seen.add(file)
  for (const imported of chunk.imports) withImports(imported, bundle, seen)
  return seen
}

/** Writes `preloads.json`, which the service reads, and preloads the font in each page. */
export function preloads(): Plugin {
  return {
    name: 'keyrail-preloads',
    apply: 'build',
    generateBundle(_, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
      const first = new Set(
        chunks.filter(({ isEntry }) => isEntry).flatMap(({ fileName }) => [...withImports(fileName, bundle)]),
      )
      const getScripts = (page: string): readonly string[] => {
        // A page that another one imports parts of is in a script with others.
        const chunk = chunks.find(({ moduleIds }) => moduleIds.some((id) => id.endsWith(`/src/pages/${page}.tsx`)))
        if (chunk === undefined) this.error(`preloads.ts names the page ${page}, which is no script`)
        return [...withImports(chunk.fileName, bundle)].filter((file) => !first.has(file))
      }
      const pages = table.map(({ path, pages, data = [] }) => ({
        path,
        scripts: [...new Set(pages.flatMap(getScripts))].map((file) => `/${file}`),
        data,
      }))
      this.emitFile({ type: 'asset', fileName: 'preloads.json', source: `${JSON.stringify(pages)}\n` })
    },
    transformIndexHtml: {
      order: 'post',
      handler: (_, { bundle = {} }) => {
        const font = Object.keys(bundle).find((file) => /\/inter-latin-wght-normal-.*\.woff2$/.test(file))
        if (font === undefined) throw new Error('The font is not in the build')
        const attrs = { rel: 'preload', as: 'font', type: 'font/woff2', crossorigin: true, href: `/${font}` }
        return [{ tag: 'link', attrs, injectTo: 'head' }]
      },
    },
  }
}
