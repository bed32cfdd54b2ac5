import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Installs the libraries that the bench compares with, in the exact versions of peers/package.json.
 *
 * @throws If they cannot be installed.
 */
export function installPeers(): void {
  const cwd = fileURLToPath(new URL('../peers/', import.meta.url))
  if (existsSync(`${cwd}node_modules/.package-lock.json`)) return
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  const { status } = spawnSync('npm', args, {
    cwd,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  })
  if (status !== 0) throw new Error('the peers could not be installed')
}
