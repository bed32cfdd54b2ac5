import { globSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'
import { BaseSequencer } from 'vitest/node'
import type { TestSpecification } from 'vitest/node'

// Tests of a package read their siblings' source, never a build that may be old.
const conditions = ['@keyrail/source', ...defaultServerConditions]

const packages = globSync('packages/*/package.json', { cwd: import.meta.dirname }).map((file) =>
  basename(dirname(file)),
)

/** What the test files of a package share, begun by the first that asks. */
const lenders: Readonly<Record<string, string>> = {
  gateway: './test/storage/lendDatabases.ts',
  dashboard: './test/lendPages.ts',
}

// A machine that is busy with other things is slow, and no test fails for that: what hangs hangs for longer still.
const patient = { testTimeout: 60_000, hookTimeout: 60_000, expect: { poll: { timeout: 30_000 } } }

// What tests start from source is the same files again and again: half of what a start costs is to take the types out of them.
const env = { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/keyrail') }
const shared = { ...patient, env }

const packageProject = (name: string) => ({
  root: `packages/${name}`,
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    name,
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    ...shared,
    typecheck: { enabled: true, include: ['src/**/*.test-d.ts'], tsconfig: './tsconfig.json' },
    globalSetup: lenders[name] ?? [],
  },
})

// What takes long is begun first, so that no worker has nothing to do while another is busy with one last file: the file in which hundreds
// of tests run elsewhere, then what starts servers and compilers, and at the end the many small ones that stand beside the code.
const pythonTest = 'test/python.test.ts'
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification): number =>
      project.name === 'python' ? 0 : /packages.[^/]+.src./.test(moduleId) ? 2 : 1
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => rank(one) - rank(other))
  }
}

export default defineConfig({
  test: {
    projects: [
      ...packages.map(packageProject),
      {
        root: '.',
        test: {
          name: 'workspace',
          include: ['test/**/*.test.ts'],
          exclude: [pythonTest],
          globalSetup: './test/packPackages.ts',
          ...shared,
          testTimeout: 120_000,
        },
      },
      {
        root: 'examples/test',
        resolve: { conditions },
        ssr: { resolve: { conditions } },
        test: {
          name: 'examples',
          include: ['*.test.ts'],
          globalSetup: './lendService.ts',
          ...shared,
          testTimeout: 120_000,
        },
      },
      { root: '.', test: { name: 'python', include: [pythonTest], ...shared } },
    ],
    // Most tests wait, for deadlines and for servers: two at a time leave a machine of two cores half idle.
    maxWorkers: 4,
    sequence: { sequencer: LongFirst },
    reporters: ['default', './scripts/closingLineReporter.ts'],
    coverage: { provider: 'v8', include: ['packages/*/src/**/*.ts'], reporter: ['text-summary'] },
  },
})
