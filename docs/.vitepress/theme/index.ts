// The theme without fonts: system fonts need no download.
export { default } from 'vitepress/theme-without-fonts'
// Imported after the theme, to override its styles.
import './wide.css'
