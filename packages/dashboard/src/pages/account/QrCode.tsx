import { encode } from 'uqr'

/** A QR code. It is black on white in dark mode too, because not every camera reads the opposite. */
export function QrCode({ text, title }: { readonly text: string; readonly title: string }) {
  const { data, size } = encode(text, { border: 3 })
  const path = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return (
    <svg className="qr" role="img" aria-label={title} viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}
