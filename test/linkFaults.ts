import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fences, withoutCode } from './fences.ts'

/**
 * Finds what a document points at that is not there: relative links, headings of linked documents, and quoted paths.
 * @param root - The top of the workspace.
 * @param file - The document, from there.
 * @param markdown - Its text.
 * @returns One sentence per fault.
 */
export function linkFaults(root: string, file: string, markdown: string): string[] {
  const faults: string[] = []
  for (const [, target = ''] of withoutCode(markdown).matchAll(/\]\(([^)\s]+)(?:\s[^)]*)?\)/g)) {
    if (/^[a-z][a-z0-9+.-]*:/i.test(target)) continue
    const [path = '', anchor] = target.split('#')
    const whole = path === '' ? join(root, file) : join(root, dirname(file), decodeURI(path))
    if (path !== '' && !existsSync(whole)) faults.push(`${file}: the link ${target} leads nowhere`)
    else if (anchor !== undefined && whole.endsWith('.md')) {
      const text = path === '' ? markdown : readFileSync(whole, 'utf8')
      if (!anchors(text).includes(anchor)) faults.push(`${file}: the link ${target} names no heading`)
    }
  }
  for (const path of quotedPaths(root, markdown)) {
    // A guide may speak from the top, from its own folder, of packages by folder, or of what lies inside one.
    const bases = ['', dirname(file), 'packages', 'packages/*']
    if (!bases.some((base) => globSync(join(base, path), { cwd: root }).length > 0)) {
      faults.push(`${file}: there is no ${path}`)
    }
  }
  return faults
}

/** Inline code that looks like a path of the workspace: names joined by slashes, the first of them a folder of it. */
function quotedPaths(root: string, markdown: string): string[] {
  let text = markdown
  for (const { code } of fences(markdown)) text = text.replace(code, '')
  const folders = new Set([...readdirSync(root), ...readdirSync(join(root, 'packages')), 'src', 'dist'])
  return [...text.matchAll(/`([\w@.*-]+(?:\/[\w@.*-]+)+\/?)`/g)]
    .map(([, path = '']) => path)
    .filter((path) => folders.has(path.split('/')[0] ?? '') && !path.startsWith('dist/') && !path.includes('/dist/'))
}

/** The ids that a site gives the headings of a document. */
function anchors(markdown: string): string[] {
  const headings = [...withoutFences(markdown).matchAll(/^#{1,6}\s+(.*?)\s*#*$/gm)].map(([, heading = '']) => heading)
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-'),
  )
}

function withoutFences(markdown: string): string {
  return fences(markdown).reduce((text, { code }) => (code === '' ? text : text.replace(code, '')), markdown)
}
