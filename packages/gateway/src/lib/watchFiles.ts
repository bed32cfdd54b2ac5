import { watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'
import { basename, dirname } from 'node:path'

const quietMs = 200

/**
 * Watches files for changes. It watches their folders, because editors and orchestrators replace a file instead of writing to it.
 * @param files - Their paths.
 * @param options.onChange - Called once there has been no event for 200 ms. The content may be unchanged.
 * @param options.onWatchError - Called if a folder cannot be watched, for example because the system has no watches left.
 * @returns A function that stops watching.
 */
export const watchFiles = (
  files: readonly string[],
  { onChange, onWatchError }: { onChange: () => void; onWatchError: () => void },
): (() => void) => {
  let timer: NodeJS.Timeout | undefined
  const folders = new Set(files.map((file) => dirname(file)))
  const watchers: FSWatcher[] = []
  for (const folder of folders) {
    const names = new Set(files.filter((file) => dirname(file) === folder).map((file) => basename(file)))
    const watcher = tryWatch(folder, { persistent: false }, (_event, name) => {
      // Kubernetes mounts a secret as a link into a folder `..data`, which it replaces.
      if (name !== null && !names.has(name) && !name.startsWith('..')) return
      clearTimeout(timer)
      timer = setTimeout(onChange, quietMs)
      timer.unref()
    })
    if (watcher === undefined) {
      onWatchError()
      continue
    }
    // A folder that disappears must not end the process: SIGHUP still works.
    watcher.on('error', () => watcher.close())
    watchers.push(watcher)
  }
  return () => {
    clearTimeout(timer)
    for (const watcher of watchers) watcher.close()
  }
}

const tryWatch = (
  folder: string,
  options: { persistent: boolean },
  listener: (event: string, name: string | null) => void,
): FSWatcher | undefined => {
  try {
    return watch(folder, options, listener)
  } catch {
    return undefined
  }
}
