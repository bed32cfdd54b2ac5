import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { defaultServerConditions } from 'vite'
import type { TestProjectInlineConfiguration } from 'vitest/config'
import { BaseSequencer } from 'vitest/node'
import type { TestSpecification } from 'vitest/node'

/**
 * Which tests a run consists of. `test` is what `npm test` runs, in minutes. `verify` is the slow rest that `npm run verify` runs:
 * packed packages in every runtime, clusters of services, the docs site, a release.
 */
export type Suite = 'test' | 'verify'

const top = join(import.meta.dirname, '..')

// Tests of a package import their siblings' source, never a build that may be outdated. Vitest loads global set-ups in an environment
// named `__vitest__`.
const conditions = ['@keyrail/source', ...defaultServerConditions]

const packages = globSync('packages/*/package.json', { cwd: top }).map((file) => basename(dirname(file)))

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
  setupFiles: [join(top, 'scripts/resetBetweenFiles.ts')],
}

/**
 * Packages whose tests install fake timers: each of their files has a process of its own, because a timer that a file leaves behind would hold
 * up the next one. Files of other packages share processes, and load the same modules once.
 */
const isolated: ReadonlySet<string> = new Set(['core', 'ethers', 'fetch', 'gateway'])

interface ProjectOptions {
  readonly name: string
  /** The folder, from the top of the workspace. */
  readonly root: string
  readonly include: string[]
  readonly exclude?: string[]
  readonly globalSetup?: string[] | undefined
}

const project = ({ name, root, include, exclude, globalSetup }: ProjectOptions): TestProjectInlineConfiguration => ({
  root: join(top, root),
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  environments: { __vitest__: { resolve: { conditions } } },
  test: {
    ...common,
    name,
    isolate: isolated.has(name),
    include,
    exclude: exclude ?? [],
    globalSetup: globalSetup ?? [],
  },
})

const pythonTest = 'test/python.test.ts'

/** The Vitest projects of a suite: one for each package, one for the workspace and one for the examples. */
export function testProjects(suite: Suite): TestProjectInlineConfiguration[] {
  const ending = suite === 'test' ? 'test.ts' : 'verify.ts'
  const workspaceSetup = suite === 'verify' ? ['./test/packPackages.ts', browser] : []
  return [
    ...packages.map((name) =>
      project({
        name,
        root: `packages/${name}`,
        include: [`src/**/*.${ending}`, `test/**/*.${ending}`],
        globalSetup: globalSetups[name],
      }),
    ),
    project({
      name: 'workspace',
      root: '.',
      include: [`test/**/*.${ending}`],
      exclude: [pythonTest],
      globalSetup: workspaceSetup,
    }),
    project({
      name: 'examples',
      root: 'examples/test',
      include: [`*.${ending}`],
      globalSetup: ['./lendService.ts', browser],
    }),
    ...(suite === 'test' ? [project({ name: 'python', root: '.', include: [pythonTest] })] : []),
  ]
}

/**
 * The projects of `npm run unit -- --changed`: the unit tests of each package that a change touches, and each test file that it touches. Of
 * these, Vitest runs the ones that import a changed file. Tests of other packages are left to `npm test`: most import core.
 *
 * @param since - The commit to compare with.
 */
export function changedProjects(since: string): TestProjectInlineConfiguration[] {
  const git = (...words: string[]): string[] =>
    execFileSync('git', words, { cwd: top, encoding: 'utf8' }).split('\n').filter(Boolean)
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
    return [project({ name, root, include: ['src/**/*.test.ts', ...tests], globalSetup })]
  })
}

/**
 * Starts the long test files first, so that no worker is idle while another is busy with one last file: Python's, which runs hundreds of
 * tests in a process of its own, then those that start servers and compilers, then the many small ones beside the code.
 */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification): number =>
      project.name === 'python' ? 0 : /packages.[^/]+.src./.test(moduleId) ? 2 : 1
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => rank(one) - rank(other))
  }
}
