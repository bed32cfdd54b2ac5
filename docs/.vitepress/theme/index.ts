// Without the fonts: what a reader's own system has loads at once, and from nowhere.
export { default } from 'vitepress/theme-without-fonts'
