import { join } from 'node:path'
import { headingSlug } from './headingSlug.ts'
import { sidebar } from './sidebar.ts'
import { siteLinks } from './siteLinks.ts'
import type { Markdown } from './siteLinks.ts'
import { stagePages } from './stagePages.ts'

const top = join(import.meta.dirname, '../..')
const folder = join(import.meta.dirname, 'pages')
const pages = stagePages(top, folder)

/** What of Vite's server is used. */
interface Server {
  readonly watcher: { add(paths: readonly string[]): void; on(event: 'change', listener: (file: string) => void): void }
}

/** What is searched of a page: of the reference names and words, and no signatures. Nobody searches for colours, and they take seconds. */
const searched = (markdown: string, path: string): string =>
  path.startsWith('api/')
    ? markdown.replaceAll(/^```[\s\S]*?^```$/gm, '')
    : markdown.replaceAll(/^( *```+)(ts|tsx|js|json|sh|python)$/gm, '$1text')

// The site loads nothing from other hosts, and its policy makes the browser block such requests. VitePress writes two scripts into each page.
const policy =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'none'"

export default {
  title: 'Keyrail',
  description: 'An SDK for keyed Ethereum nodes, and the service that gives the keys.',
  lang: 'en',
  srcDir: '.vitepress/pages',
  head: [
    ['meta', { 'http-equiv': 'Content-Security-Policy', content: policy }],
    ['link', { rel: 'icon', href: '/icon.svg', type: 'image/svg+xml' }],
  ],
  markdown: {
    // Pages are plain Markdown, which is read elsewhere too: angle brackets and braces are text.
    html: false,
    linkify: false,
    attrs: { disable: true },
    anchor: { slugify: headingSlug },
    config: (markdown: Markdown) => {
      markdown.disable('emoji', true)
      siteLinks(new Map(pages.map(({ path, source }) => [path, source])))(markdown)
    },
  },
  themeConfig: {
    logo: '/icon.svg',
    nav: [
      { text: 'Start', link: '/start.md' },
      { text: 'Failures', link: '/failures.md' },
      { text: 'Service', link: '/service/running.md' },
      { text: 'API', link: '/api/index.md' },
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
        ) => markdown.render(searched(source, env.relativePath), env),
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
