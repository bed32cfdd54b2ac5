import { useLayoutEffect, useRef, useState } from 'react'
import type { ReactNode, RefObject } from 'react'
import { isFree, placeToast } from './placeToast.ts'
import type { Box } from './placeToast.ts'

const controlSelector = 'a[href], button, input, select, textarea, summary, [role="option"]'

/** The places of the controls in the window, without those in the message. */
const findControls = (toast: HTMLElement): readonly Box[] =>
  [...document.querySelectorAll(controlSelector)]
    .filter((control) => !toast.contains(control))
    .map((control) => control.getBoundingClientRect())
    .filter(({ width, height, top, bottom }) => width > 0 && height > 0 && bottom > 0 && top < innerHeight)

/** Keeps a message where it covers no control, while the page scrolls or changes below it. It moves only if a control comes into its place. */
function usePlace(ref: RefObject<HTMLElement | null>, shown: unknown): Box | undefined {
  const [place, setPlace] = useState<Box>()
  useLayoutEffect(() => {
    const toast = ref.current
    if (shown === undefined || toast === null) {
      setPlace(undefined)
      return undefined
    }
    let frame = 0
    const move = (): void => {
      frame = 0
      const { width, height } = toast.getBoundingClientRect()
      const page = { width: document.documentElement.clientWidth, height: innerHeight }
      const controls = findControls(toast)
      const isRtl = getComputedStyle(document.documentElement).direction === 'rtl'
      setPlace((last) => {
        const isSame = last?.width === width && last.height === height
        const isInside = isSame && last.top + height < page.height && last.left + width < page.width
        return isInside && isFree(last, controls) ? last : placeToast({ width, height }, page, controls, { isRtl })
      })
    }
    const moveLater = (): void => {
      frame ||= requestAnimationFrame(move)
    }
    move()
    const observer = new MutationObserver(moveLater)
    observer.observe(document.body, { childList: true, subtree: true })
    addEventListener('scroll', moveLater, { passive: true, capture: true })
    addEventListener('resize', moveLater)
    return () => {
      cancelAnimationFrame(frame)
      observer.disconnect()
      removeEventListener('scroll', moveLater, { capture: true })
      removeEventListener('resize', moveLater)
    }
  }, [ref, shown])
  return place
}

/** A message for some seconds. It covers no control. Screen readers announce it: the element that they watch is there before its text. */
export function Toast(props: {
  /** `undefined` while there is none. */
  readonly text: string | undefined
  readonly action?: ReactNode
}) {
  const ref = useRef<HTMLDivElement>(null)
  const { text } = props
  const place = usePlace(ref, text)
  return (
    <div
      ref={ref}
      className={text === undefined ? 'toast empty' : 'toast'}
      style={place && { left: place.left, top: place.top, right: 'auto', bottom: 'auto' }}
    >
      <span role="status" aria-live="polite">
        {text}
      </span>
      {props.action}
    </div>
  )
}
