import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findFences, withoutCode } from './findFences.ts'

/**
 * Finds broken references of a document: relative links, headings of linked documents, and quoted paths.
 * @param root - The top of the workspace.
 * @param file - The path of the document, relative to `root`.
 * @param markdown - The text of the document.
 * @returns One sentence per problem.
 */
export function findLinkProblems(root: string, file: string, markdown: string): string[] {
  const problems: string[] = []
  for (const [, target = ''] of withoutCode(markdown).matchAll(/\]\(([^)\s]+)(?:\s[^)]*)?\)/g)) {
    if (/^[a-z][a-z0-9+.-]*:/i.test(target)) continue
    const [path = '', anchor] = target.split('#')
    const fullPath = path === '' ? join(root, file) : join(root, dirname(file), decodeURI(path))
    if (path !== '' && !existsSync(fullPath)) problems.push(`${file}: the link ${target} leads nowhere`)
    else if (anchor !== undefined && fullPath.endsWith('.md')) {
      const text = path === '' ? markdown : readFileSync(fullPath, 'utf8')
      if (!getAnchors(text).includes(anchor)) problems.push(`${file}: the link ${target} names no heading`)
    }
  }
  for (const path of getQuotedPaths(root, markdown)) {
    // Paths can be relative to the top, to the document, to packages/ or to one package.
    const bases = ['', dirname(file), 'packages', 'packages/*']
    if (!bases.some((base) => globSync(join(base, path), { cwd: root }).length > 0)) {
      problems.push(`${file}: there is no ${path}`)
    }
  }
  return problems
}

/** Returns inline code that looks like a path of the workspace: names separated by slashes that start with one of its folders. */
function getQuotedPaths(root: string, markdown: string): string[] {
  let text = markdown
  for (const { code } of findFences(markdown)) text = text.replace(code, '')
  const folders = new Set([...readdirSync(root), ...readdirSync(join(root, 'packages')), 'src', 'dist'])
  // `npm start` writes it.
  folders.delete('.keyrail')
  return (
    [...text.matchAll(/`([\w@.*-]+(?:\/[\w@.*-]+)+\/?)`/g)]
      .map(([, path = '']) => path)
      .filter((path) => folders.has(path.split('/')[0] ?? '') && !path.startsWith('dist/') && !path.includes('/dist/'))
      // The Python tests create it.
      .filter((path) => !path.split('/').includes('.venv'))
  )
}

/** Returns the ids that the docs site gives the headings of a document. */
function getAnchors(markdown: string): string[] {
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
  return findFences(markdown).reduce((text, { code }) => (code === '' ? text : text.replace(code, '')), markdown)
}
