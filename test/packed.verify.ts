import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, isAbsolute, join, posix, relative } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { describe, expect, test } from 'vitest'
import { toSearchedTexts } from '../docs/.vitepress/agentPages.ts'
import { readPages } from '../docs/.vitepress/readPages.ts'
import { getPacked } from './getPacked.ts'
import { publishedPackages } from './publishedPackages.ts'
import type { Target } from './publishedPackages.ts'
import { run, top } from './run.ts'

/** The files of a library with one entry point. */
const library = [
  'dist/index.cjs',
  'dist/index.cjs.map',
  'dist/index.d.cts',
  'dist/index.d.ts',
  'dist/index.js',
  'dist/index.js.map',
]

const withMaps = (...names: readonly string[]): readonly string[] =>
  names.flatMap((name) => [`dist/${name}.js`, `dist/${name}.js.map`])

const starred = (file: string): string => file.replace(/-[A-Z0-9]{8}[.]/, '-*.')

// The files of the built dashboard.
const pagesFolder = join(top, 'packages/dashboard/dist')
const pages = readdirSync(pagesFolder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => posix.join(relative(pagesFolder, entry.parentPath), entry.name))

// The pages that `keyrail mcp` searches.
const docs = [...toSearchedTexts(readPages(top)).keys()]

// The files in each tarball besides package.json, README and LICENSE; `*` is a hash of the contents. The list shows added and removed files in review.
const contents: Readonly<Record<string, readonly string[]>> = {
  core: [
    'dist/core.cjs',
    'dist/core.cjs.map',
    'dist/core.js',
    'dist/core.js.map',
    'dist/http.fetch.cjs',
    'dist/http.fetch.cjs.map',
    'dist/http.fetch.js',
    'dist/http.fetch.js.map',
    'dist/http.node.cjs',
    'dist/http.node.cjs.map',
    'dist/http.node.js',
    'dist/http.node.js.map',
    ...library,
    'dist/internal.cjs',
    'dist/internal.cjs.map',
    'dist/internal.d.cts',
    'dist/internal.d.ts',
    'dist/internal.js',
    'dist/internal.js.map',
    'dist/schema.cjs',
    'dist/schema.cjs.map',
    'dist/schema.d.cts',
    'dist/schema.d.ts',
    'dist/schema.js',
    'dist/schema.js.map',
  ],
  fetch: library,
  ethers: library,
  web3: library,
  viem: library,
  snippets: library,
  msw: ['dist/index.d.ts', 'dist/index.js', 'dist/index.js.map'],
  gateway: [
    'dist/index.d.ts',
    'dist/portOffset.d.ts',
    ...withMaps(
      'chainThread',
      'checkCacheRedis-*',
      'checkEvictionPolicy-*',
      'chunk-*',
      'createInstances-*',
      'createRedisInvalidation-*',
      'createRedisLimits-*',
      'createRedisMessages-*',
      'createSharedChecks-*',
      'index',
      'openRedis-*',
      'openRedisFunctions-*',
      'openRedisStore-*',
      'portOffset',
      'writerThread',
    ),
  ],
  cli: [
    ...withMaps(
      'accounts-*',
      'apps-*',
      'backup-*',
      'cache-*',
      'call-*',
      'chunk-*',
      'completion-*',
      'dev-*',
      'doctor-*',
      'health-*',
      'keys-*',
      'logs-*',
      'mcp-*',
      'members-*',
    ),
    ...withMaps('main', 'networks-*', 'runMain-*', 'secret-*', 'serve-*', 'snippet-*', 'users-*', 'watch-*'),
    ...pages.map((file) => `dashboard/${file}`),
    ...docs.map((file) => `docs/${file}`),
    'docs/search.json',
  ],
  'create-keyrail': [
    ...withMaps('main', 'runCreate-*'),
    ...['README.md', '_gitignore', 'app/Token.tsx', 'app/layout.tsx', 'app/page.tsx', 'app/rpc/route.ts'].map(
      (file) => `templates/next/${file}`,
    ),
    ...['lib/createProxyRoute.ts', 'next.config.ts', 'package.json', 'test/route.test.ts', 'tsconfig.json'].map(
      (file) => `templates/next/${file}`,
    ),
    ...['README.md', '_gitignore', 'package.json', 'src/main.ts', 'src/sumTransfers.ts'].map(
      (file) => `templates/node/${file}`,
    ),
    ...['test/sumTransfers.test.ts', 'tsconfig.json'].map((file) => `templates/node/${file}`),
    ...['README.md', '_gitignore', 'index.html', 'package.json', 'src/App.tsx', 'src/Root.tsx', 'src/config.ts'].map(
      (file) => `templates/react-wagmi/${file}`,
    ),
    ...['src/environment.d.ts', 'src/main.tsx', 'src/token.ts', 'test/App.test.tsx', 'tsconfig.json'].map(
      (file) => `templates/react-wagmi/${file}`,
    ),
    'templates/react-wagmi/vite.config.ts',
  ],
}

// The attw profile of each package with types. `esm-only` ignores `node10` and `require`, for packages without CommonJS.
const typed = [
  { folder: 'core', profile: 'strict' },
  { folder: 'fetch', profile: 'strict' },
  { folder: 'ethers', profile: 'strict' },
  { folder: 'viem', profile: 'strict' },
  { folder: 'web3', profile: 'strict' },
  { folder: 'snippets', profile: 'strict' },
  { folder: 'gateway', profile: 'esm-only' },
  { folder: 'msw', profile: 'esm-only' },
] as const
const untyped = ['cli', 'create-keyrail'] as const

test('every published package has a list of its contents', () => {
  const published = publishedPackages.map(({ folder }) => folder).sort()
  expect(Object.keys(contents).sort()).toEqual(published)
  expect([...typed.map(({ folder }) => folder), ...untyped].sort()).toEqual(published)
})

test.each(typed)('the types of $folder resolve in all module systems (attw, $profile)', async ({ folder, profile }) => {
  const attw = ['--no-definitely-typed', '--profile', profile, '--format', 'ascii', getPacked(folder).tarball]
  const { code, stdout, stderr } = await run('attw', attw)
  expect(code, `${stdout}${stderr}`).toBe(0)
})

test.each(untyped)('%s ships no types', (folder) => {
  expect(
    getPacked(folder).files.filter((file) => !file.startsWith('templates/') && /[.]d[.][cm]?ts$/.test(file)),
  ).toEqual([])
})

describe.each(publishedPackages)('$manifest.name', ({ folder, path, manifest: source }) => {
  test('contains exactly the listed files', () => {
    // pnpm adds both. A package without a LICENSE gets the workspace's.
    const addedFiles = [
      ...(existsSync(join(path, 'LICENSE')) || existsSync(join(top, 'LICENSE')) ? ['LICENSE'] : []),
      ...(existsSync(join(path, 'README.md')) ? ['README.md'] : []),
    ]
    const files = new Set(getPacked(folder).files.map(starred))
    expect([...files].sort()).toEqual([...addedFiles, ...(contents[folder] ?? []).map(starred), 'package.json'].sort())
  })

  test('passes publint, suggestions included', async () => {
    const tarball = new Uint8Array(readFileSync(getPacked(folder).tarball)).buffer
    const { messages, pkg } = await publint({ pack: { tarball } })
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([])
  })

  test('is published with the manifest of the workspace, without the source condition', () => {
    const { manifest } = getPacked(folder)
    expect(manifest.exports).toEqual(withoutSource(source.exports))
    expect(manifest.imports).toEqual(withoutSource(source.imports))
    const text = readFileSync(join(getPacked(folder).path, 'package.json'), 'utf8')
    expect(text).not.toContain('@keyrail/source')
    expect(text).not.toContain('workspace:')
  })

  test('contains every file that its manifest names', () => {
    const { manifest, files } = getPacked(folder)
    const named = [manifest.exports, manifest.imports, manifest.bin].flatMap((target) => getTargets(target))
    expect(named.length).toBeGreaterThan(0)
    for (const target of named) expect(files).toContain(posix.normalize(target))
  })

  test('every source map belongs to a file, contains its sources and names no file of this machine', () => {
    const { path: root, files } = getPacked(folder)
    for (const file of files.filter((name) => name.endsWith('.map'))) {
      const map = JSON.parse(readFileSync(join(root, file), 'utf8')) as { sources: string[]; sourcesContent?: string[] }
      expect(map.sourcesContent, file).toHaveLength(map.sources.length)
      for (const name of map.sources) {
        expect(isAbsolute(name), `${file}: ${name}`).toBe(false)
        expect(name, file).not.toMatch(/[.](test|test-d)[.]ts$|node_modules/)
      }
      expect(readFileSync(join(root, file.slice(0, -'.map'.length)), 'utf8')).toContain(
        `sourceMappingURL=${posix.basename(file)}`,
      )
    }
    // The dashboard is built without source maps.
    for (const file of files.filter((name) => /[.]c?js$/.test(name) && !name.startsWith('dashboard/'))) {
      const map = /sourceMappingURL=(\S+)/.exec(readFileSync(join(root, file), 'utf8'))?.[1]
      expect(files, file).toContain(posix.join(dirname(file), map ?? 'no map'))
    }
  })

  test('no file contains a path of this machine', () => {
    const { path: root, files } = getPacked(folder)
    for (const file of files) expect(readFileSync(join(root, file), 'utf8').includes(top), file).toBe(false)
  })
})

/** Removes the source condition from `exports` or `imports`, and the entries that only have that condition. */
function withoutSource<T extends Target | undefined>(target: T): T {
  if (typeof target !== 'object') return target
  const left = Object.entries(target)
    .filter(([condition]) => condition !== '@keyrail/source')
    .map(([condition, inner]) => [condition, withoutSource(inner)] as const)
  return Object.fromEntries(left.filter(([, inner]) => typeof inner === 'string' || Object.keys(inner).length > 0)) as T
}

function getTargets(target: Target | undefined): string[] {
  if (target === undefined) return []
  return typeof target === 'string' ? [target] : Object.values(target).flatMap((inner) => getTargets(inner))
}
