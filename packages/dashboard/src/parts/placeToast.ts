/** A rectangle in the window, in pixels. */
export interface Box {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

/** The distance to the edges of the window. */
const marginPx = 16
/** The distance to controls. */
const gapPx = 6
const stepPx = 8

const meets = (one: Box, other: Box): boolean =>
  one.left < other.left + other.width + gapPx &&
  other.left < one.left + one.width + gapPx &&
  one.top < other.top + other.height + gapPx &&
  other.top < one.top + one.height + gapPx

/** Whether a message at this place covers no control. */
export const isFree = (place: Box, controls: readonly Box[]): boolean =>
  !controls.some((control) => meets(place, control))

/**
 * Finds a place for a message where it covers no control: as low as possible, there at the end of the line, in its middle, or at its start.
 * @param options.isRtl - Whether lines run from right to left. @default false
 * @returns The lowest place at the end of the line if no place is free.
 */
export function placeToast(
  size: Pick<Box, 'width' | 'height'>,
  page: Pick<Box, 'width' | 'height'>,
  controls: readonly Box[],
  { isRtl = false }: { readonly isRtl?: boolean } = {},
): Box {
  const right = page.width - marginPx - size.width
  const [start, end] = isRtl ? [right, marginPx] : [marginPx, right]
  const lowest = page.height - marginPx - size.height
  for (let top = lowest; top >= marginPx; top -= stepPx) {
    for (const left of [end, (page.width - size.width) / 2, start]) {
      const place = { ...size, left, top }
      if (isFree(place, controls)) return place
    }
  }
  return { ...size, left: end, top: lowest }
}
