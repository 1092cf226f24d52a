/** Colors of the theme for what is painted on a canvas, which knows no custom properties. */

const NAMES = [
  "text",
  "text-muted",
  "surface",
  "accent",
  "close",
  "mark-inside",
  "danger",
  "success",
  "warning",
] as const;

export type ColorName = (typeof NAMES)[number];

export interface Palette {
  colors: Record<ColorName, string>;
  font: string;
  isDark: boolean;
}

/** Reads the colors that apply to an element. */
export function paletteOf(host: HTMLElement): Palette {
  const probe = document.createElement("span");
  // A drawing has colors of its own, also where the system sets those of the page.
  probe.style.forcedColorAdjust = "none";
  host.append(probe);
  const style = getComputedStyle(probe);
  const resolve = (name: string): string => {
    probe.style.color = `var(--${name})`;
    return style.color;
  };
  const colors = Object.fromEntries(NAMES.map((name) => [name, resolve(name)])) as Palette["colors"];
  const font = style.fontFamily;
  probe.remove();
  const [red = 255, green = 255, blue = 255] = colors.surface.match(/[\d.]+/g)?.map(Number) ?? [];
  return { colors, font, isDark: red + green + blue < 384 };
}

/** Calls back when the colors change, also for paper; returns how to stop. */
export function onThemeChange(changed: () => void): () => void {
  const media = ["(prefers-color-scheme: dark)", "(forced-colors: active)", "print"].map((query) =>
    matchMedia(query),
  );
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  for (const list of media) list.addEventListener("change", changed);
  return () => {
    observer.disconnect();
    for (const list of media) list.removeEventListener("change", changed);
  };
}

/** A color that a drawing states, for white paper, on the paper of the theme. */
export function inkOf(color: string, { colors, isDark }: Palette): string {
  if (color.toLowerCase() === "#ffffff") return colors.surface;
  if (!isDark || !/^#[0-9a-f]{6}$/i.test(color)) return color;
  const channels = [1, 3, 5].map((start) => Number.parseInt(color.slice(start, start + 2), 16));
  const turn = 255 - Math.max(...channels) - Math.min(...channels);
  // Turns the lightness and keeps the hue; the paper is not black.
  return `rgb(${channels.map((channel) => Math.round(22 + ((channel + turn) * 210) / 255)).join(" ")})`;
}
