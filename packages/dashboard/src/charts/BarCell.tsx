/** A part of a whole, drawn beside its number. */
export function BarCell({ part, bad = false }: { readonly part: number; readonly bad?: boolean | undefined }) {
  return (
    <td className="bar-cell" aria-hidden="true">
      <svg viewBox="0 0 100 8" preserveAspectRatio="none">
        <rect className="track" width="100" height="8" />
        <rect className={bad ? 'fill bad' : 'fill'} width={Math.max(part > 0 ? 1 : 0, part * 100)} height="8" />
      </svg>
    </td>
  )
}
