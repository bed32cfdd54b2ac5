// Without the fonts: what a reader's own system has loads at once, and from nowhere.
export { default } from 'vitepress/theme-without-fonts'
// After the theme's own, to hold in its place.
import './wide.css'
