import { existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { TestProject } from 'vitest/node'
import { publishedPackages } from './publishedPackages.ts'
import { run, top } from './run.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder with the packed packages: `<folder>.tgz` files, and their contents in folders of the same name. */
    packedIn: string
    /** The folder of a user's project with the packed SDK packages installed. */
    installedIn: string
    /** Why a package could not be packed, by its folder. The key `installed` has why the packages could not be installed. */
    notPacked: Record<string, string>
  }
}

/** Packs every published package once for all tests of the workspace, as for the registry. */
export async function setup(project: TestProject): Promise<() => void> {
  const packedIn = mkdtempSync(join(tmpdir(), 'keyrail-packed-'))
  const notPacked = await pack(packedIn)
  const installedIn = join(packedIn, 'project')
  const problem = await install(installedIn)
  if (problem !== undefined) notPacked['installed'] = problem
  project.provide('packedIn', packedIn)
  project.provide('installedIn', installedIn)
  project.provide('notPacked', notPacked)
  return () => rmSync(packedIn, { recursive: true, force: true })
}

/** Builds outdated packages, packs all with one pnpm command, and unpacks them. @returns The errors by the package's folder. */
async function pack(into: string): Promise<Record<string, string>> {
  const problems: Record<string, string> = {}
  await Promise.all(
    publishedPackages
      .filter(({ path }) => isStale(path))
      .map(async ({ folder, path }) => {
        const built = await run('npm', ['run', '--silent', 'build'], { cwd: path })
        if (built.code !== 0) problems[folder] = `the build of ${folder} failed:\n${built.stdout}${built.stderr}`
      }),
  )
  const built = publishedPackages.filter(({ folder }) => problems[folder] === undefined)
  const filters = built.flatMap(({ manifest }) => ['--filter', manifest.name])
  const pnpm = ['run', '--silent', 'pnpm', '--', '-r', ...filters, 'pack', '--out', join(into, '%s.tgz')]
  const { stdout, stderr } = await run('npm', pnpm)
  await Promise.all(
    built.map(async ({ folder, manifest: { name } }) => {
      const tarball = join(into, `${name.replace('@', '').replace('/', '-')}.tgz`)
      if (!existsSync(tarball)) return void (problems[folder] = `packing ${name} failed:\n${stdout}${stderr}`)
      renameSync(tarball, join(into, `${folder}.tgz`))
      mkdirSync(join(into, folder))
      const unpacked = await run('tar', ['-xzf', `${folder}.tgz`, '-C', folder, '--strip-components=1'], { cwd: into })
      if (unpacked.code !== 0) problems[folder] = unpacked.stderr
    }),
  )
  return problems
}

/** Installs the packed SDK packages as a user would. They only depend on each other, so no registry is needed. */
async function install(into: string): Promise<string | undefined> {
  mkdirSync(into)
  writeFileSync(join(into, 'package.json'), '{ "private": true }')
  const npm = ['install', '--offline', '--no-audit', '--no-fund', '--no-package-lock', '../core.tgz', '../fetch.tgz']
  const installed = await run('npm', npm, { cwd: into })
  return installed.code === 0 ? undefined : `installing the packed packages failed:\n${installed.stderr}`
}

/** Returns whether a source of the build is newer than its output. */
function isStale(path: string): boolean {
  const newest = (patterns: string[]): number =>
    Math.max(0, ...globSync(patterns, { cwd: path }).map((file) => statSync(resolve(path, file)).mtimeMs))
  const built = newest(['dist/**/*.js'])
  return built < newest(['src/**/*.{ts,json}', 'package.json', '*.config.ts', join(top, 'tsconfig.base.json')])
}
