import { globSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { TestProject } from 'vitest/node'
import { publishedPackages } from './publishedPackages.ts'
import type { WorkspacePackage } from './publishedPackages.ts'
import { run, top } from './run.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the packed packages are: `<folder>.tgz` files and their contents in folders of the same name. */
    packedIn: string
    /** A project of a user's, with the packed SDK packages installed in it. */
    installedIn: string
    /** Why a package could not be packed, by its folder; why nothing could be installed, by `installed`. */
    notPacked: Record<string, string>
  }
}

/** Packs every published package once for all tests of the workspace, as it would go to the registry. */
export async function setup(project: TestProject): Promise<() => void> {
  const packedIn = mkdtempSync(join(tmpdir(), 'keyrail-packed-'))
  const notPacked: Record<string, string> = {}
  await Promise.all(
    publishedPackages.map(async (which) => {
      const fault = await pack(which, packedIn)
      if (fault !== undefined) notPacked[which.folder] = fault
    }),
  )
  const installedIn = join(packedIn, 'project')
  const fault = await install(installedIn)
  if (fault !== undefined) notPacked['installed'] = fault
  project.provide('packedIn', packedIn)
  project.provide('installedIn', installedIn)
  project.provide('notPacked', notPacked)
  return () => rmSync(packedIn, { recursive: true, force: true })
}

async function pack({ folder, path, manifest }: WorkspacePackage, into: string): Promise<string | undefined> {
  if (isStale(path)) {
    const built = await run('npm', ['run', '--silent', 'build'], { cwd: path })
    if (built.code !== 0) return `the build of ${folder} failed:\n${built.stdout}${built.stderr}`
  }
  const pnpm = ['run', '--silent', 'pnpm', '--', '--dir', path, 'pack', '--out', join(into, `${folder}.tgz`)]
  const packed = await run('npm', pnpm)
  if (packed.code !== 0) return `packing ${manifest.name} failed:\n${packed.stdout}${packed.stderr}`
  mkdirSync(join(into, folder))
  const unpacked = await run('tar', ['-xzf', `${folder}.tgz`, '-C', folder, '--strip-components=1'], { cwd: into })
  return unpacked.code === 0 ? undefined : unpacked.stderr
}

/** Installs the packed SDK packages as a user would. They need nothing but each other, so no registry is asked. */
async function install(into: string): Promise<string | undefined> {
  mkdirSync(into)
  writeFileSync(join(into, 'package.json'), '{ "private": true }')
  const npm = ['install', '--offline', '--no-audit', '--no-fund', '--no-package-lock', '../core.tgz', '../fetch.tgz']
  const installed = await run('npm', npm, { cwd: into })
  return installed.code === 0 ? undefined : `installing the packed packages failed:\n${installed.stderr}`
}

/** Whether something that the build reads is newer than what it made. */
function isStale(path: string): boolean {
  const newest = (patterns: string[]): number =>
    Math.max(0, ...globSync(patterns, { cwd: path }).map((file) => statSync(resolve(path, file)).mtimeMs))
  const built = newest(['dist/**/*.js'])
  return built < newest(['src/**/*.{ts,json}', 'package.json', '*.config.ts', join(top, 'tsconfig.base.json')])
}
