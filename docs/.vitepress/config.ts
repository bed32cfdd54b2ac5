import { join } from 'node:path'
import { emptyHeaders } from './emptyHeaders.ts'
import { headingSlug } from './headingSlug.ts'
import { imageSizes } from './imageSizes.ts'
import { sidebar } from './sidebar.ts'
import { siteLinks } from './siteLinks.ts'
import type { Markdown } from './siteLinks.ts'
import { stagePages } from './stagePages.ts'

const top = join(import.meta.dirname, '../..')
const folder = join(import.meta.dirname, 'pages')
const pages = stagePages(top, folder)

/** The members of Vite's server that are used. */
interface Server {
  readonly watcher: { add(paths: readonly string[]): void; on(event: 'change', listener: (file: string) => void): void }
}

/** Pages for contributors. In the search results they would be between the pages that users look for. */
const unsearched = new Set(['changelog.md', 'architecture.md', 'contributing.md'])

/** The text of a page that the search finds. Signatures are left out, and code is not highlighted, which would take seconds. */
const toSearchable = (markdown: string, path: string): string => {
  if (unsearched.has(path)) return ''
  return path.startsWith('api/')
    ? markdown.replaceAll(/^```[\s\S]*?^```$/gm, '')
    : markdown.replaceAll(/^( *```+)(ts|tsx|js|json|sh|python)\b.*$/gm, '$1text')
}

// The site loads nothing from other hosts, and its policy makes the browser block such requests. VitePress writes two scripts into each page.
const policy =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'none'"

export default {
  title: 'Keyrail',
  description: 'The SDK for Ethereum nodes with API keys, and the service that serves the keys.',
  lang: 'en',
  srcDir: '.vitepress/pages',
  // Prefetching every page that a visible link leads to would double what a page loads.
  router: { prefetchLinks: false },
  head: [
    ['meta', { 'http-equiv': 'Content-Security-Policy', content: policy }],
    ['link', { rel: 'icon', href: '/icon.svg', type: 'image/svg+xml' }],
  ],
  // The landing page is plain Markdown, so that it can be read in the repository, too. Here it needs no sidebar.
  transformPageData: ({ relativePath }: { readonly relativePath: string }) =>
    relativePath === 'index.md' ? { frontmatter: { sidebar: false, aside: false, pageClass: 'landing' } } : undefined,
  markdown: {
    // Pages are plain Markdown, which other viewers show too: angle brackets and braces are text.
    html: false,
    linkify: false,
    attrs: { disable: true },
    anchor: { slugify: headingSlug },
    // The other themes of GitHub have too little contrast on the background of a code block.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    image: { lazyLoading: true },
    config: (markdown: Markdown) => {
      markdown.disable('emoji', true)
      emptyHeaders(markdown)
      imageSizes(folder)(markdown)
      siteLinks(new Map(pages.map(({ path, source }) => [path, source])))(markdown)
    },
  },
  themeConfig: {
    logo: '/icon.svg',
    nav: [
      { text: 'Get started', link: '/start.md' },
      { text: 'Guides', link: '/choosing.md' },
      { text: 'Reference', link: '/transport.md' },
      { text: 'Operate', link: '/service/running.md' },
      { text: 'Compare', link: '/compare.md' },
    ],
    sidebar: sidebar(pages),
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        _render: (
          source: string,
          env: { readonly relativePath: string },
          markdown: { render(text: string, env: object): string },
        ) => markdown.render(toSearchable(source, env.relativePath), env),
      },
    },
  },
  vite: {
    configFile: false,
    // The index of the search is one file.
    build: { chunkSizeWarningLimit: 2_000 },
    plugins: [
      {
        name: 'keyrail-stage',
        configureServer: ({ watcher }: Server) => {
          const sources = pages.map(({ source }) => join(top, source))
          watcher.add(sources)
          watcher.on('change', (file) => {
            if (sources.includes(file)) stagePages(top, folder)
          })
        },
      },
    ],
  },
}
