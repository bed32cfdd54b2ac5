import { watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'
import { basename, dirname } from 'node:path'

const quietMs = 200

/**
 * Tells when files may have changed. Watches their folders, since an editor or an orchestrator puts a new file in the place of the old one.
 * @param files - Their paths.
 * @param options.onChange - Called once things have been quiet for 200 ms. What is in the file may be the same as before.
 * @param options.onBlind - Called where a folder cannot be watched, as where a system's watches are used up.
 * @returns Stops watching.
 */
export const watchFiles = (
  files: readonly string[],
  { onChange, onBlind }: { onChange: () => void; onBlind: () => void },
): (() => void) => {
  let timer: NodeJS.Timeout | undefined
  const folders = new Set(files.map((file) => dirname(file)))
  const watchers: FSWatcher[] = []
  for (const folder of folders) {
    const names = new Set(files.filter((file) => dirname(file) === folder).map((file) => basename(file)))
    const watcher = tryWatch(folder, { persistent: false }, (_event, name) => {
      // A mounted secret is a link into a folder `..data` that is exchanged whole.
      if (name !== null && !names.has(name) && !name.startsWith('..')) return
      clearTimeout(timer)
      timer = setTimeout(onChange, quietMs)
      timer.unref()
    })
    if (watcher === undefined) {
      onBlind()
      continue
    }
    // A folder that goes away is no reason to end: SIGHUP still works.
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
