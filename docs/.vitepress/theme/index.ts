// Without the theme's fonts: the reader's own load at once, and from no other host.
import { useData } from 'vitepress'
import theme from 'vitepress/theme-without-fonts'
import { defineComponent, h } from 'vue'
import type { Ref } from 'vue'
import { toSearchOptions } from '../../../packages/cli/src/mcp/toSearchOptions.ts'
import { PageTools } from './PageTools.ts'
import { followChoices } from './choices.ts'
// Imported after the theme's styles, to override them.
import './brand.css'
import './landing.css'
import './wide.css'

/** Scrolls the sidebar to the current page, which may be far below the first entries. */
function showCurrentPage(): void {
  const sidebar = document.querySelector('.VPSidebar')
  const entries = sidebar?.querySelectorAll('.VPSidebarItem.is-active')
  const entry = entries?.[entries.length - 1]
  if (!sidebar || !entry) return
  const box = entry.getBoundingClientRect()
  const isVisible = box.top > 64 && box.bottom < window.innerHeight
  if (!isVisible) sidebar.scrollTop += box.top - window.innerHeight / 3
}

/** The version that the docs are of. */
const SiteVersion = defineComponent(() => {
  const data = useData<{ readonly version: string }>()
  return () => h('a', { class: 'site-version', href: '/changelog.html' }, data.theme.value.version)
})

/** The members of the site's data that are used. */
interface SiteData {
  readonly themeConfig: {
    readonly search: { readonly options: { readonly miniSearch: { readonly searchOptions: object } } }
  }
}

/** Returns the data with all options of the search. Functions in the config would be evaluated in the page, which the policy forbids. */
function withSearchOptions(site: SiteData): SiteData {
  const { themeConfig } = site
  const { search } = themeConfig
  const { miniSearch } = search.options
  const searchOptions = toSearchOptions(miniSearch.searchOptions)
  const options = { ...search.options, miniSearch: { ...miniSearch, searchOptions } }
  return { ...site, themeConfig: { ...themeConfig, search: { ...search, options } } }
}

export default {
  ...theme,
  Layout: () =>
    h(theme.Layout, null, { 'nav-bar-content-after': () => h(SiteVersion), 'doc-before': () => h(PageTools) }),
  enhanceApp({ router, siteData }: { router: { onAfterRouteChange?: () => void }; siteData: Ref<SiteData> }) {
    siteData.value = withSearchOptions(siteData.value)
    if (typeof window !== 'undefined') followChoices()
    // The page is rendered a frame after the route has changed.
    router.onAfterRouteChange = () => {
      if (typeof window !== 'undefined') setTimeout(showCurrentPage, 100)
    }
  },
}
