import { globSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
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

// Timeouts only catch hangs: on a machine that is busy with other work, a slow test still passes.
const timeouts = { testTimeout: 120_000, hookTimeout: 120_000, expect: { poll: { timeout: 60_000 } } }

// Tests start the same TypeScript programs many times. Half of each start would be stripping the types again.
const env = { NODE_COMPILE_CACHE: join(top, 'node_modules/.cache/keyrail') }

// A process of its own for each of 400 files would spend a third of the time on loading the same modules again.
const shared = { isolate: false, setupFiles: [join(top, 'scripts/resetBetweenFiles.ts')] }

/** The Vitest projects of a suite: one for each package, one for the workspace and one for the examples. */
export function testProjects(suite: Suite): TestProjectInlineConfiguration[] {
  const ending = suite === 'test' ? 'test.ts' : 'verify.ts'
  return [
    ...packages.map((name) => ({
      root: `packages/${name}`,
      resolve: { conditions },
      ssr: { resolve: { conditions } },
      environments: { __vitest__: { resolve: { conditions } } },
      test: {
        name,
        include: [`src/**/*.${ending}`, `test/**/*.${ending}`],
        ...timeouts,
        ...shared,
        env,
        globalSetup: globalSetups[name] ?? [],
      },
    })),
    {
      root: '.',
      test: {
        name: 'workspace',
        include: [`test/**/*.${ending}`],
        exclude: [pythonTest],
        globalSetup: suite === 'verify' ? ['./test/packPackages.ts', browser] : [],
        ...timeouts,
        ...shared,
        env,
      },
    },
    {
      root: 'examples/test',
      resolve: { conditions },
      ssr: { resolve: { conditions } },
      environments: { __vitest__: { resolve: { conditions } } },
      test: {
        name: 'examples',
        include: [`*.${ending}`],
        globalSetup: ['./lendService.ts', browser],
        ...timeouts,
        ...shared,
        env,
      },
    },
    ...(suite === 'test' ? [{ root: '.', test: { name: 'python', include: [pythonTest], ...timeouts, env } }] : []),
  ]
}

const pythonTest = 'test/python.test.ts'

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
