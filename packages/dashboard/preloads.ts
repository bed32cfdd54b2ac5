import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
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
const frameData = ['/api/session', '/api/accounts']

const [appUsage, keyUsage] = ['/api/apps/{appId}/usage', '/api/usage']
const [deployment, activity, networks] = ['/api/deployment', '/api/activity', '/api/networks/status']

const apps: Omit<PageFiles, 'path'> = {
  pages: ['Apps'],
  data: [deployment, keyUsage, '/api/apps?limit=48', activity, networks],
}

/** The pages of an app. */
const inApp = (path: string, pages: readonly string[], data: readonly string[] = []): PageFiles => ({
  path: `/apps/{appId}${path}`,
  pages: ['app/AppFrame', ...pages.map((page) => `app/${page}`)],
  data: ['/api/apps/{appId}', appUsage, '/api/apps/{appId}/origins', ...data],
})

/** The pages of an API key. */
const inKey = (path: string, pages: readonly string[], data: readonly string[] = []): PageFiles => ({
  path: `/keys/{keyId}${path}`,
  pages: ['key/KeyFrame', ...pages.map((page) => `key/${page}`)],
  data: ['/api/keys/{keyId}', keyUsage, deployment, '/api/keys/{keyId}/origins', ...data],
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

const setUp = [
  deployment,
  '/api/apps/{appId}/metrics?range=quarter',
  '/api/apps/{appId}/allow-list',
  '/api/apps/{appId}/jwt-keys',
  '/api/alerts',
]

const inside: readonly PageFiles[] = [
  { path: '/', ...apps },
  { path: '/apps', ...apps },
  inApp('', ['AppSetup'], setUp),
  inApp('/setup', ['AppSetup'], setUp),
  inApp('/metrics', ['AppMetrics']),
  inApp('/requests', ['AppRequests']),
  inApp('/requests/{logId}', ['AppRequest']),
  inApp('/networks', ['AppNetworks'], [deployment]),
  inApp('/settings/advanced', ['AppSettings', 'AppAdvanced'], [deployment]),
  inApp('/settings/allow-list', ['AppSettings', 'AppAllowList'], ['/api/apps/{appId}/allow-list']),
  inApp('/settings/jwt-keys', ['AppSettings', 'AppJwtKeys'], ['/api/apps/{appId}/jwt-keys']),
  inApp('/settings/delete', ['AppSettings', 'AppDelete']),
  { path: '/keys', pages: ['Keys'], data: [deployment, keyUsage, '/api/keys', '/api/apps?limit=48', activity] },
  inKey('', ['KeySetup'], ['/api/keys/{keyId}/metrics?range=quarter']),
  inKey('/setup', ['KeySetup'], ['/api/keys/{keyId}/metrics?range=quarter']),
  inKey('/metrics', ['KeyMetrics']),
  inKey('/requests', ['KeyRequests']),
  inKey('/settings', ['KeySettings']),
  inAccount('', 'AccountUsage'),
  inAccount('/members', 'AccountMembers'),
  inAccount('/alerts', 'AccountAlerts', ['/api/alerts', deployment]),
  inAccount('/tokens', 'AccountTokens', ['/api/tokens']),
  inAccount('/audit', 'AccountAudit', ['/api/audit-log?limit=50']),
  inAccount('/security', 'AccountSecurity'),
  inOperator('', 'OperatorOverview', ['/api/admin/overview', '/api/admin/upstreams', deployment]),
  inOperator('/users', 'OperatorUsers', ['/api/admin/users?limit=50']),
  inOperator('/upstreams', 'OperatorUpstreams', ['/api/admin/upstreams', deployment]),
]

const table: readonly PageFiles[] = [
  ...inside.map(({ data = [], ...page }) => ({ ...page, data: [...frameData, ...data] })),
  { path: '/sign-up', pages: ['SignUp'] },
]

const require = createRequire(import.meta.url)

/** Returns the scripts that a script imports statically, and itself. */
function withImports(file: string, bundle: Rolldown.OutputBundle, seen = new Set<string>()): Set<string> {
  const chunk = bundle[file]
  if (seen.has(file) || chunk?.type !== 'chunk') return seen
  seen.add(file)
  for (const imported of chunk.imports) withImports(imported, bundle, seen)
  return seen
}

/** Writes `preloads.json`, which the service reads, preloads the font in each page, and adds the font's license. */
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
      const license = readFileSync(require.resolve('@fontsource-variable/inter/LICENSE'), 'utf8')
      this.emitFile({ type: 'asset', fileName: 'assets/inter-license.txt', source: license })
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
