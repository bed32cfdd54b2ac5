import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { arrows } from '../scripts/arrows.ts'
import { findImportProblems } from './findImportProblems.ts'
import { findManifestProblems } from './findManifestProblems.ts'
import { top } from './run.ts'

// test/arrows.test.ts checks the workspace. These tests check the checker.

// Each entry is a mistake in a copy of the workspace, with the problems that the checker must report.
const planted: readonly { readonly file: string; readonly text: string; readonly problems: readonly string[] }[] = [
  {
    file: 'packages/core/src/plantedArrow.ts',
    text: "export { createClient } from '@keyrail/fetch'",
    problems: ['arrow:core', 'declared'],
  },
  {
    file: 'packages/core/src/plantedTypeArrow.ts',
    text: "export type { Client } from '@keyrail/fetch'",
    problems: ['arrow:core', 'declared'],
  },
  {
    file: 'packages/core/src/plantedLoop.ts',
    text: "import type { Other } from './plantedLoopEnd.ts'\nexport type One = Other | undefined",
    problems: ['no-loop'],
  },
  {
    file: 'packages/core/src/plantedLoopEnd.ts',
    text: "import type { One } from './plantedLoop.ts'\nexport interface Other { one: One }",
    problems: ['no-loop'],
  },
  {
    file: 'packages/vectors/src/plantedPackageLoop.ts',
    text: "export * as fetch from '@keyrail/bench'",
    problems: ['arrow:vectors', 'declared', 'no-loop'],
  },
  {
    file: 'packages/bench/src/index.ts',
    text: "export * as back from '../../vectors/src/plantedPackageLoop.ts'",
    problems: ['arrow:bench', 'no-loop', 'only-by-name', 'entry-points'],
  },
  {
    file: 'packages/gateway/src/lib/plantedPlane.ts',
    text: "export * from '../errors/rejection.ts'",
    problems: ['plane:lib'],
  },
  {
    file: 'packages/gateway/src/proxy/plantedPlane.ts',
    text: "export * from '../control/createControl.ts'",
    problems: ['plane:proxy'],
  },
  {
    file: 'packages/gateway/src/proxy/upstream/plantedTransport.ts',
    text: "export * from '../caller/http/writeParts.ts'",
    problems: ['proxy:upstream'],
  },
  {
    file: 'packages/gateway/src/proxy/request/plantedForward.ts',
    text: "export { forwardCall } from '../upstream/forward.ts'",
    problems: ['run-calls'],
  },
  { file: 'packages/core/src/plantedBuiltin.ts', text: "import 'node:fs'", problems: ['node-modules:core'] },
  { file: 'packages/core/src/plantedBareBuiltin.ts', text: "import 'fs'", problems: ['node-modules:core'] },
  { file: 'packages/core/src/planted.node.ts', text: "import 'node:fs'", problems: [] },
  { file: 'packages/core/src/plantedNodeImport.ts', text: "import './planted.node.ts'", problems: ['node-file'] },
  { file: 'packages/core/src/planted.test.ts', text: "import 'node:fs'\nimport '@keyrail/vectors'", problems: [] },
  { file: 'packages/fetch/src/plantedBuiltin.ts', text: "import 'node:fs'", problems: ['node-modules:fetch'] },
  {
    file: 'packages/fetch/src/plantedSource.ts',
    text: "export * as core from '@keyrail/core/src/index.ts'",
    problems: ['resolvable'],
  },
  {
    file: 'packages/fetch/src/plantedRelative.ts',
    text: "export * as core from '../../core/src/index.ts'",
    problems: ['only-by-name'],
  },
  {
    file: 'packages/fetch/src/plantedInside.ts',
    text: "export * as call from '../../core/src/transport/call/call.ts'",
    problems: ['only-by-name', 'entry-points'],
  },
  {
    file: 'packages/fetch/src/plantedVectors.ts',
    text: "import '@keyrail/vectors'",
    problems: ['arrow:fetch', 'declared'],
  },
  { file: 'packages/core/src/plantedTestCode.ts', text: "import '../test/faultServer.ts'", problems: ['test-code'] },
  {
    file: 'packages/fetch/src/plantedTestCode.ts',
    text: "import '@keyrail/core/test/faultServer.ts'",
    problems: ['test-code'],
  },
  { file: 'packages/fetch/test/plantedTestCode.ts', text: "import '@keyrail/core/test/faultServer.ts'", problems: [] },
  { file: 'packages/fetch/src/plantedForeign.ts', text: "import 'esbuild'", problems: ['declared'] },
  {
    file: 'packages/fetch/src/plantedCli.test.ts',
    text: "import 'keyrail'",
    problems: ['declared', 'test-arrow:fetch'],
  },
  {
    file: 'packages/gateway/src/plantedArrow.ts',
    text: "export const late = import('@keyrail/fetch')",
    problems: ['arrow:gateway', 'declared'],
  },
  { file: 'packages/ethers/src/index.ts', text: "import '@keyrail/fetch'", problems: ['arrow:ethers', 'declared'] },
  {
    file: 'packages/dashboard/src/index.ts',
    text: "import '@keyrail/gateway'\nexport type {} from '@keyrail/gateway'",
    problems: ['declared', 'types-only:dashboard'],
  },
]

describe('a copy of the workspace with mistakes', () => {
  let copy = ''
  let problems: readonly string[] = []

  beforeAll(async () => {
    copy = copyWorkspace()
    for (const folder of ['ethers', 'bench', 'dashboard']) {
      put(
        copy,
        `packages/${folder}/package.json`,
        JSON.stringify({ name: arrows[folder]?.name, exports: { '.': './src/index.ts' } }),
      )
    }
    for (const { file, text } of planted) put(copy, file, `${text}\nexport {}\n`)
    // The keyrail command has no entry point, but one of the mistakes imports it.
    const cli = JSON.parse(readFileSync(join(copy, 'packages/cli/package.json'), 'utf8')) as object
    put(copy, 'packages/cli/package.json', JSON.stringify({ ...cli, exports: { '.': './src/main.ts' } }))
    linkPackages(copy)
    const files = planted.map(({ file }) => file)
    problems = (await findImportProblems(copy, files)).problems
    // Reading many imports takes a long time on a busy machine.
  }, 120_000)

  afterAll(() => rmSync(copy, { recursive: true, force: true }))

  test.each(planted)('$file: $problems', ({ file, problems: expected }) => {
    const reported = problems
      // A loop is reported once, at one of its files.
      .filter(
        (problem) =>
          problem.includes(`: ${file} -> `) || (problem.startsWith('no-loop') && problem.endsWith(` ${file}`)),
      )
      .map((problem) => problem.slice(0, problem.indexOf(': ')))
    expect([...new Set(reported)].sort()).toEqual([...expected].sort())
  })

  test('reports a package that is not in the table', () => {
    put(copy, 'packages/newcomer/package.json', JSON.stringify({ name: '@keyrail/newcomer' }))
    expect(findManifestProblems(copy, arrows)).toContain('packages/newcomer is not in the table of scripts/arrows.ts')
  })

  test('reports a dependency that the table does not allow, ours or not', () => {
    put(
      copy,
      'packages/ethers/package.json',
      JSON.stringify({
        name: '@keyrail/ethers',
        dependencies: { '@keyrail/core': '^1.0.0', '@keyrail/fetch': 'workspace:^', 'left-pad': '1.0.0' },
        devDependencies: { keyrail: 'workspace:*' },
        peerDependencies: { web3: '4', '@keyrail/core': 'workspace:^' },
      }),
    )
    const reported = findManifestProblems(copy, arrows).filter((problem) => problem.includes('ethers'))
    expect(reported).toEqual([
      'ethers may not depend on @keyrail/fetch',
      'tests of ethers may not depend on keyrail',
      'ethers may not have our own @keyrail/core as a peer',
      'ethers takes @keyrail/core from the registry (^1.0.0), not from the workspace',
      'ethers may not depend on left-pad',
      'ethers may not have web3 as a peer',
      'packages form a loop: cli -> snippets -> ethers -> cli',
      'packages form a loop: cli -> ethers -> cli',
    ])
  })

  test('reports a dependency on a package that must be optional', () => {
    put(
      copy,
      'packages/cli/package.json',
      JSON.stringify({ name: 'keyrail', dependencies: { '@keyrail/viem': 'workspace:^' } }),
    )
    expect(findManifestProblems(copy, arrows)).toContain('cli may not depend on @keyrail/viem, which is optional')
  })

  test('reports a loop between packages, also one through tests', () => {
    put(
      copy,
      'packages/msw/package.json',
      JSON.stringify({ name: '@keyrail/msw', dependencies: { '@keyrail/core': 'workspace:^' } }),
    )
    put(
      copy,
      'packages/core/package.json',
      JSON.stringify({ name: '@keyrail/core', devDependencies: { '@keyrail/msw': 'workspace:*' } }),
    )
    expect(findManifestProblems(copy, arrows)).toContain('packages form a loop: core -> msw -> core')
  })
})

function put(root: string, file: string, text: string): void {
  const path = join(root, file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** Copies sources, manifests and rules, without builds and installed packages. */
function copyWorkspace(): string {
  const copy = mkdtempSync(join(tmpdir(), 'keyrail-arrows-'))
  for (const path of ['.dependency-cruiser.cjs', 'scripts', 'package.json', 'packages']) {
    cpSync(join(top, path), join(copy, path), {
      recursive: true,
      filter: (source) => !/[/](node_modules|dist)$/.test(source),
    })
  }
  return copy
}

/** Links installed packages from the workspace, and our own packages from the copy. */
function linkPackages(copy: string): void {
  const ours = readdirSync(join(copy, 'packages'))
  const getName = (folder: string): string => arrows[folder]?.name ?? folder
  const link = (target: string, at: string): void => {
    mkdirSync(dirname(at), { recursive: true })
    symlinkSync(target, at)
  }
  for (const entry of readdirSync(join(top, 'node_modules'))) {
    if (entry !== '@keyrail' && !ours.some((folder) => getName(folder) === entry)) {
      link(join(top, 'node_modules', entry), join(copy, 'node_modules', entry))
    }
  }
  for (const folder of ours) link(join(copy, 'packages', folder), join(copy, 'node_modules', getName(folder)))
}
