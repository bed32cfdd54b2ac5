// The content of dist/core.js: every value that dist/index.js and dist/internal.js export. They share one file, because two bundles would each have
// their own clock and error class.
export * from './index.ts'
export * from './internal.ts'
