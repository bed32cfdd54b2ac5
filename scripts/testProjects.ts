import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { defaultServerConditions } from 'vite'
import type { TestProjectInlineConfiguration } from 'vitest/config'
import { BaseSequencer } from 'vitest/node'
import type { TestSpecification } from 'vitest/node'

/**
 * The tests of a run. `test` has the tests of `npm test`, which take minutes. `verify` has the slow tests of `npm run verify`:
 * packed packages in every runtime, clusters of services, the docs site, a release.
 */
export type Suite = 'test' | 'verify'

const top = join(import.meta.dirname, '..')

// Tests of a package import their siblings' source, never a build that may be outdated. Vitest loads global set-ups in an environment
// named `__vitest__`.
const conditions = ['@keyrail/source', ...defaultServerConditions]

const packages = globSync('packages/*/package.json', { cwd: top }).map((file) => basename(dirname(file)))

const seedProperties = join(top, 'scripts/seedProperties.ts')

const browser = join(top, 'packages/core/test/openBrowser.ts')

/** Resources that all test files of a package share. */
const globalSetups: Readonly<Record<string, string[]>> = {
  gateway: ['./test/storage/lendDatabases.ts'],
  dashboard: ['./test/lendPages.ts', browser],
  msw: [browser],
}

const common = {
  // Timeouts only catch hangs: on a machine that is busy with other work, a slow test still passes.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 60_000 } },
  // Tests start the same TypeScript programs many times. Half of each start would be stripping the types again.
  env: { NODE_COMPILE_CACHE: join(top, 'node_modules/.cache/keyrail') },
}

/**
 * The functions that install fake timers. A test file that imports or calls one of them runs in its own process: Node and libraries that share the
 * process would wait for timers that never fire. All other test files of a package share processes, and load Node and libraries once. In
 * those, `resetBetweenFiles.ts` rejects fake timers, so a file that installs them through another function fails until that is listed here.
 */
const fakeTimers = /\b(?:useFakeTimers|useFakeClock|controlTime)\b(?!\.ts)/

/** Added to a project's name for its files that install fake timers. `npm run unit -- --project <package>` runs both. */
export const clockSuffix = ' (clock)'

interface ProjectOptions {
  readonly name: string
  /** The folder, from the top of the workspace. */
  readonly root: string
  readonly include: string[]
  readonly exclude?: string[]
  readonly globalSetup?: string[] | undefined
  readonly env?: Readonly<Record<string, string>>
}

/** @returns One project for the files that share processes, and one for the files that install fake timers, if there are any. */
const project = ({
  name,
  root,
  include,
  exclude = [],
  globalSetup = [],
  env = {},
}: ProjectOptions): TestProjectInlineConfiguration[] => {
  const cwd = join(top, root)
  // Measurements install tools into folders of tests.
  const excluded = [...exclude, '**/node_modules/**']
  const withFakeTimers = globSync(include, { cwd, exclude: excluded }).filter((file) =>
    fakeTimers.test(readFileSync(join(cwd, file), 'utf8')),
  )
  const create = (test: TestProjectInlineConfiguration['test']): TestProjectInlineConfiguration => ({
    root: cwd,
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    environments: { __vitest__: { resolve: { conditions } } },
    test: { ...common, globalSetup, env: { ...common.env, ...env }, ...test },
  })
  const shared = create({
    name,
    isolate: false,
    setupFiles: [seedProperties, join(top, 'scripts/resetBetweenFiles.ts')],
    include,
    exclude: [...excluded, ...withFakeTimers],
  })
  if (withFakeTimers.length === 0) return [shared]
  return [
    shared,
    create({
      name: `${name}${clockSuffix}`,
      isolate: true,
      setupFiles: [seedProperties],
      include: withFakeTimers,
      exclude: [],
    }),
  ]
}

const pythonTest = 'test/python.test.ts'

/** The tests of the gateway on `suiteDatabases`, once more, on PostgreSQL. */
const onPostgres = (): TestProjectInlineConfiguration[] => {
  const root = 'packages/gateway'
  const include = globSync('test/**/*.{test,verify}.ts', { cwd: join(top, root) }).filter((file) =>
    /\b(?:suiteDatabases|databasesAndFactors)\b/.test(readFileSync(join(top, root, file), 'utf8')),
  )
  return project({
    name: 'gateway on PostgreSQL',
    root,
    include,
    globalSetup: globalSetups['gateway'],
    env: { KEYRAIL_TEST_DATABASE: 'postgres' },
  })
}

/** The Vitest projects of a suite: for each package, for the workspace and for the examples. */
export function testProjects(suite: Suite): TestProjectInlineConfiguration[] {
  const ending = suite === 'test' ? 'test.ts' : 'verify.ts'
  const workspaceSetup = suite === 'verify' ? ['./test/packPackages.ts', browser] : []
  return [
    ...packages.flatMap((name) =>
      project({
        name,
        root: `packages/${name}`,
        include: [`src/**/*.${ending}`, `test/**/*.${ending}`],
        globalSetup: globalSetups[name],
      }),
    ),
    ...project({
      name: 'workspace',
      root: '.',
      include: [`test/**/*.${ending}`],
      exclude: [pythonTest],
      globalSetup: workspaceSetup,
    }),
    ...project({
      name: 'examples',
      root: 'examples/test',
      include: [`*.${ending}`],
      globalSetup: ['./lendService.ts', browser],
    }),
    ...(suite === 'test' ? project({ name: 'python', root: '.', include: [pythonTest] }) : onPostgres()),
  ]
}

/**
 * Creates the projects of `npm run unit -- --changed`: the unit tests of each package that a change touches, and each test file that it touches.
 * Vitest runs those that import a changed file. It does not run tests of other packages, because most of them import core.
 *
 * @param since - The commit to compare with.
 */
export function changedProjects(since: string): TestProjectInlineConfiguration[] {
  const git = (...args: string[]): string[] =>
    execFileSync('git', args, { cwd: top, encoding: 'utf8' }).split('\n').filter(Boolean)
  const files = [
    ...git('diff', '--name-only', '--relative', since),
    ...git('ls-files', '--others', '--exclude-standard'),
  ]
  return packages.flatMap((name) => {
    const root = `packages/${name}`
    const own = files.filter((file) => file.startsWith(`${root}/`)).map((file) => relative(root, file))
    if (own.length === 0) return []
    const tests = own.filter((file) => file.startsWith('test/') && file.endsWith('.test.ts'))
    const globalSetup = tests.length > 0 ? globalSetups[name] : []
    return project({ name, root, include: ['src/**/*.test.ts', ...tests], globalSetup })
  })
}

/** Every page of the documentation in a browser, which takes minutes. */
const pagesInBrowser = /\/test\/docsSite\.verify\.ts$/
const pythonTests = /\/test\/python\.verify\.ts$/

/**
 * Starts the long test files first, so that all workers finish at about the same time: the Python tests, which run hundreds of tests in another
 * process, then whole services under load, which need more than a share of two cores beside two long files, then the pages in a browser, then tests
 * that start servers and compilers, and last the many small tests next to the code.
 */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification): number => {
      if (project.name === 'python' || pythonTests.test(moduleId)) return 0
      if (project.name === 'bench') return 1
      if (pagesInBrowser.test(moduleId)) return 2
      return /packages.[^/]+.src./.test(moduleId) ? 4 : 3
    }
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => rank(one) - rank(other))
  }
}
