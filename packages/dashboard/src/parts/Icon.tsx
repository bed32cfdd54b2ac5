const paths = {
  copy: 'M5.5 5.5V3.8c0-.7.6-1.3 1.3-1.3h5.4c.7 0 1.3.6 1.3 1.3v5.4c0 .7-.6 1.3-1.3 1.3h-1.7M3.8 5.5h5.4c.7 0 1.3.6 1.3 1.3v5.4c0 .7-.6 1.3-1.3 1.3H3.8c-.7 0-1.3-.6-1.3-1.3V6.8c0-.7.6-1.3 1.3-1.3Z',
  done: 'm3 8.5 3.2 3.2L13 5',
  eye: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8Zm6.5 2a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z',
  hide: 'M2.5 2.5l11 11M6.6 6.7a2 2 0 0 0 2.8 2.8M4.3 4.5C2.5 5.8 1.5 8 1.5 8S4 12.5 8 12.5c1.2 0 2.2-.4 3.1-.9M6.7 3.6c.4-.1.8-.1 1.3-.1 4 0 6.500 4.500 6.500 4.500s-.6 1-1.600 2.100',
  plus: 'M8 3v10M3 8h10',
  menu: 'M2.500 4.500h11M2.500 8h11M2.500 11.500h11',
  play: 'M4.500 3v10l8-5Z',
  down: 'M8 2.500v8m0 0 3-3m-3 3-3-3M3 13.500h10',
} as const

/** A small picture beside words. */
export function Icon({ name }: { readonly name: keyof typeof paths }) {
  return (
    <svg
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={paths[name]} />
    </svg>
  )
}

/** The sign of Keyrail. */
export function Brand() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#0f766e" />
      <path
        d="M9 8v16M9 16h5m0 0 8-8m-8 8 8 8"
        fill="none"
        stroke="#fff"
        strokeWidth="3"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  )
}
