import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { toPythonVersion, withPythonVersion } from '../scripts/release/toPythonVersion.ts'
import { readReleaseGroup } from '../scripts/release/readReleaseGroup.ts'
import { getReleaseStep } from '../scripts/release/getReleaseStep.ts'
import { withRepository } from '../scripts/release/withRepository.ts'
import { getPacked } from './getPacked.ts'
import { publishedPackages, workspacePackages } from './publishedPackages.ts'
import { run, top } from './run.ts'
import type { Ran } from './run.ts'

const names = publishedPackages.map(({ manifest }) => manifest.name).sort()
const readPythonVersion = (root: string): string | undefined =>
  /^version = "(.*)"$/m.exec(readFileSync(join(root, 'packages/python/pyproject.toml'), 'utf8'))?.[1]

test('the release group contains exactly the published packages', () => {
  const { fixed } = JSON.parse(readFileSync(join(top, '.changeset/config.json'), 'utf8')) as { fixed: string[][] }
  expect(fixed).toEqual([names])
  const { members } = readReleaseGroup(top)
  expect(members.map(({ manifest }) => manifest.name).sort()).toEqual(names)
})

test('all published packages and the Python package have the same version', () => {
  expect(readPythonVersion(top)).toBe(toPythonVersion(readReleaseGroup(top).version))
})

test.each(publishedPackages)('the tarball of $manifest.name contains the license', ({ folder, manifest }) => {
  expect(readFileSync(join(getPacked(folder).path, 'LICENSE'), 'utf8')).toBe(readFileSync(join(top, 'LICENSE'), 'utf8'))
  expect(manifest).toMatchObject({ license: 'MIT', publishConfig: { access: 'public' } })
})

describe('in a workspace with a changeset', () => {
  let root = ''
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: root, encoding: 'utf8' })
  const script = (name: string, ...words: string[]): Promise<Ran> =>
    run('node', [join(root, 'scripts', name), ...words], { cwd: root, env: { GITHUB_REPOSITORY: 'someone/keyrail' } })

  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'keyrail-release-')))
    const files = [
      'package.json',
      'pnpm-workspace.yaml',
      '.changeset',
      'scripts',
      'packages/python/pyproject.toml',
      'packages/core/src/version.ts',
    ]
    const manifests = globSync(['packages/*/package.json', 'examples/*/package.json'], { cwd: top })
    for (const file of [...files, ...manifests]) cpSync(join(top, file), join(root, file), { recursive: true })
    writeFileSync(join(root, '.changeset/one.md'), "---\n'@keyrail/core': patch\n---\n\nFixed `http`.\n")
    writeFileSync(join(root, '.gitignore'), 'node_modules\n')
    // Links nothing else that is installed: a mistake of pnpm here would affect the whole workspace.
    mkdirSync(join(root, 'node_modules/@changesets'), { recursive: true })
    symlinkSync(realpathSync(join(top, 'node_modules/@changesets/cli')), join(root, 'node_modules/@changesets/cli'))
    git('init', '--quiet')
    git('add', '.')
    git('commit', '--quiet', '--message', 'All')
  })

  afterEach(() => rmSync(root, { recursive: true, force: true }))

  test('release:version sets the next version of every published package and the Python package, writes changelogs and deletes the changesets', async () => {
    const before = readReleaseGroup(root)
    expect(before.changesets).toContain('one.md')
    const { code, stdout, stderr } = await script('releaseVersion.ts')
    expect(code, stderr).toBe(0)

    const after = readReleaseGroup(root)
    expect(after.version).not.toBe(before.version)
    expect(after.changesets).toEqual([])
    expect(stdout).toContain(`${after.version}: `)
    expect(readPythonVersion(root)).toBe(after.version)
    expect(readFileSync(join(root, 'packages/core/src/version.ts'), 'utf8')).toContain(`'${after.version}'`)
    for (const { folder, manifest } of workspacePackages) {
      const read = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8')) as typeof manifest
      const changelog = join(root, 'packages', folder, 'CHANGELOG.md')
      if (manifest.private) expect(read, folder).toEqual(manifest)
      else {
        // Workspace ranges do not change: packing replaces them with the version.
        expect(read, folder).toEqual({ ...manifest, version: after.version })
        expect(readFileSync(changelog, 'utf8')).toContain(`## ${after.version}`)
      }
      expect(existsSync(changelog)).toBe(!manifest.private)
    }
    expect(readFileSync(join(root, 'packages/core/CHANGELOG.md'), 'utf8')).toContain('Fixed `http`.')
  })

  test('release:pack fails if there are changesets or uncommitted changes', async () => {
    const into = join(root, 'node_modules/packages')
    const early = await script('releasePack.ts', into)
    expect(early.code).toBe(1)
    expect(early.stderr).toMatch(/^release: \d+ changesets are waiting: run npm run release:version/m)

    expect((await script('releaseVersion.ts')).code).toBe(0)
    const dirty = await script('releasePack.ts', into)
    expect(dirty.code).toBe(1)
    expect(dirty.stderr).toContain('release: commit these changes first:')
    expect(dirty.stderr).toContain('packages/core/package.json')
    expect(existsSync(into)).toBe(false)
    expect((await script('releasePack.ts')).stderr).toContain('npm run release:pack -- FOLDER')
  })

  describe('release:publish', () => {
    let packages = ''
    let version = ''
    const programs = (): string => join(root, 'node_modules/programs')
    const calls = (): string[][] =>
      existsSync(join(root, 'node_modules/calls'))
        ? readFileSync(join(root, 'node_modules/calls'), 'utf8')
            .trim()
            .split('\n')
            .map((line) => line.split(' '))
        : []
    /** Creates a tarball with a manifest in the folder of packages. */
    const createTarball = (file: string, manifest: object): void => {
      const folder = mkdtempSync(join(root, 'node_modules/tarball-'))
      mkdirSync(join(folder, 'package'))
      writeFileSync(join(folder, 'package/package.json'), JSON.stringify(manifest))
      execFileSync('tar', ['-czf', join(packages, file), '-C', folder, 'package'])
    }
    const publish = (env: Record<string, string> = {}, ...words: string[]): Promise<Ran> =>
      run(process.execPath, [join(root, 'scripts/releasePublish.ts'), packages, ...words], {
        cwd: root,
        env: { PATH: `${programs()}:${process.env['PATH'] ?? ''}`, ...env },
      })

    beforeEach(() => {
      packages = join(root, 'node_modules/packages')
      mkdirSync(packages)
      version = readReleaseGroup(root).version
      for (const name of names) createTarball(`${name.replace('@', '').replace('/', '-')}.tgz`, { name, version })
      // A fake npm: it records its arguments, and its registry has the version IN_REGISTRY.
      mkdirSync(programs())
      writeFileSync(
        join(programs(), 'npm'),
        `#!/bin/sh
printf '%s\\n' "$*" >> '${join(root, 'node_modules/calls')}'
case "$1 $2" in
  "view $IN_REGISTRY") echo '"0.0.0"' ;;
  view*) echo "{\\"error\\":{\\"code\\":\\"\${VIEW_CODE:-E404}\\"}}"; exit 1 ;;
  publish*"\${FAILS:-never}"*) exit 1 ;;
esac
`,
        { mode: 0o755 },
      )
    })
    const published = (): string[] => calls().flatMap(([verb, file = '']) => (verb === 'publish' ? [file] : []))

    test('publishes each packed file unchanged, without scripts, dependencies first', async () => {
      const { code, stderr } = await publish()
      expect(code, stderr).toBe(0)
      expect(published()).toEqual(names.map((name) => join(packages, `${name.replace('@', '').replace('/', '-')}.tgz`)))
      for (const call of calls().filter(([verb]) => verb === 'publish'))
        expect(call.slice(2)).toEqual(['--ignore-scripts', '--access', 'public', '--tag', 'latest'])
      // Nothing else: no install, no build, no pnpm.
      expect(new Set(calls().map(([verb]) => verb))).toEqual(new Set(['view', 'publish']))
      for (const { manifest } of publishedPackages) {
        const ours = Object.keys(manifest.dependencies ?? {}).filter((name) => names.includes(name))
        for (const name of ours) expect(names.indexOf(name)).toBeLessThan(names.indexOf(manifest.name))
      }
    })

    test('publishes with provenance in a workflow with an id token, but not in a dry run', async () => {
      const env = { ACTIONS_ID_TOKEN_REQUEST_URL: 'https://token.example' }
      await publish(env, '--dry-run')
      expect(
        calls()
          .filter(([verb]) => verb === 'publish')[0]
          ?.slice(2),
      ).toEqual(['--ignore-scripts', '--access', 'public', '--tag', 'latest', '--dry-run'])
      rmSync(join(root, 'node_modules/calls'))
      await publish(env)
      expect(calls().filter(([verb]) => verb === 'publish')[0]).toContain('--provenance')
    })

    test('skips published packages, and stops if npm fails', async () => {
      const first = names[0] ?? ''
      const { stderr } = await publish({ IN_REGISTRY: `${first}@${version}`, FAILS: 'keyrail-fetch' })
      expect(stderr).toContain(`${first}@${version} is in the registry already`)
      expect(stderr).toContain(`@keyrail/fetch@${version} could not be published; run this again`)
      expect(published().map((file) => file.replace(`${packages}/`, ''))).toEqual([
        'keyrail-ethers.tgz',
        'keyrail-fetch.tgz',
      ])
    })

    test('publishes nothing if the registry lookup fails', async () => {
      const { code, stderr } = await publish({ VIEW_CODE: 'E500' })
      expect(code).toBe(1)
      expect(stderr).toContain(`npm could not look up @keyrail/core@${version}`)
      expect(published()).toEqual([])
    })

    test.each<[string, () => void]>([
      ['one is missing', () => rmSync(join(packages, 'keyrail-core.tgz'))],
      ['there is an extra one', () => createTarball('more.tgz', { name: 'left-pad', version })],
      ['one has another version', () => createTarball('keyrail-core.tgz', { name: '@keyrail/core', version: '9.9.9' })],
      ['one is there twice', () => cpSync(join(packages, 'keyrail-core.tgz'), join(packages, 'again.tgz'))],
    ])('publishes nothing if %s', async (_, spoil) => {
      spoil()
      const { code, stderr } = await publish()
      expect(code).toBe(1)
      expect(stderr).toContain('must hold exactly the packages of this release')
      expect(calls()).toEqual([])
    })
  })

  test('releaseState.ts prints the next step of the release', async () => {
    const printState = async (): Promise<string> => (await script('releaseState.ts')).stdout
    const { version } = readReleaseGroup(root)
    expect(await printState()).toBe(`step=propose\nversion=${version}\n`)
    await script('releaseVersion.ts')
    const next = readReleaseGroup(root).version
    expect(await printState()).toBe(`step=publish\nversion=${next}\n`)
    git('tag', `v${next}`)
    expect(await printState()).toBe(`step=nothing\nversion=${next}\n`)
    // Leaving pre-release mode needs a version of its own.
    writeFileSync(join(root, '.changeset/pre.json'), '{ "mode": "pre", "tag": "next" }')
    expect(await printState()).toBe(`step=nothing\nversion=${next}\n`)
    writeFileSync(join(root, '.changeset/pre.json'), '{ "mode": "exit", "tag": "next" }')
    expect(await printState()).toBe(`step=propose\nversion=${next}\n`)
  })
})

test('a group without a version, or with a tag for its version, is not published', () => {
  expect(getReleaseStep({ version: '0.0.0', changesets: [] }, [])).toBe('nothing')
  expect(getReleaseStep({ version: '1.0.0', changesets: [] }, ['v1.0.0'])).toBe('nothing')
  expect(getReleaseStep({ version: '1.0.0', changesets: [] }, ['v1.0.0-beta.0', 'v0.9.0'])).toBe('publish')
  expect(getReleaseStep({ version: '1.0.0', changesets: ['a.md'] }, ['v1.0.0'])).toBe('propose')
})

test('converts an npm version to a Python version', () => {
  expect(toPythonVersion('1.2.3')).toBe('1.2.3')
  expect(toPythonVersion('1.0.0-alpha.0')).toBe('1.0.0a0')
  expect(toPythonVersion('1.0.0-beta.12')).toBe('1.0.0b12')
  expect(toPythonVersion('1.0.0-next.3')).toBe('1.0.0rc3')
  for (const version of ['1.2', '1.0.0-fast.0', '1.0.0-beta', '1.0.0+build', 'v1.0.0'])
    expect(() => toPythonVersion(version), version).toThrow(`Python has no version ${version}`)
})

test('changes only the version of the project in pyproject.toml', () => {
  const pyproject =
    '[build-system]\nversion = "1"\n\n[project]\nname = "keyrail"\nversion = "0.1.0"\n\n[tool.x]\nversion = "9"\n'
  expect(withPythonVersion(pyproject, '0.2.0b1')).toBe(pyproject.replace('"0.1.0"', '"0.2.0b1"'))
  expect(() => withPythonVersion('[project]\nname = "keyrail"\n\n[tool.x]\nversion = "9"\n', '1.0.0')).toThrow(
    'no version = "…" in its [project]',
  )
})

test('adds the repository to a manifest, and changes nothing else', () => {
  const text = readFileSync(join(top, 'packages/core/package.json'), 'utf8')
  const url = 'https://github.com/someone/keyrail'
  expect(JSON.parse(withRepository(text, url, 'packages/core'))).toEqual({
    ...(JSON.parse(text) as object),
    repository: { type: 'git', url: `git+${url}.git`, directory: 'packages/core' },
  })
})
