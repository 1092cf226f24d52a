/** The image of a page, with the words of a passage marked. */
import type { PageWords } from "./queries";
import { type Box, type TextRange, wordBoxes, wordsIn } from "./wordBoxes";

interface PageImageProps {
  source: string;
  /** Name of the page, such as `Page 2 of manual.pdf`. */
  name: string;
  /** Words of the passage on the page; without them, nothing is marked. */
  words: PageWords | null;
  /** Parts of the passage to mark more clearly. */
  exact: TextRange[];
  onLoad?: () => void;
  onError?: () => void;
}

/** Maximum number of characters of the marked words in the text alternative. */
const MAX_ALTERNATIVE = 300;

export function PageImage({ source, name, words, exact, onLoad, onError }: PageImageProps) {
  const boxes = words ? wordBoxes(words, null, words.width) : [];
  const exactBoxes = words ? exact.flatMap((range) => wordBoxes(words, range, words.width)) : [];
  return (
    <div className="page-image">
      <img src={source} alt={alternative(name, words, exact)} onLoad={onLoad} onError={onError} />
      {words &&
        boxes.map((box) => (
          <span key={`${box.left} ${box.top}`} className="page-mark" data-mark style={share(box, words)} />
        ))}
      {words &&
        exactBoxes.map((box) => (
          <span
            key={`exact ${box.left} ${box.top} ${box.width}`}
            className="page-mark"
            data-mark
            data-exact
            style={share(box, words)}
          />
        ))}
    </div>
  );
}

/** The box as parts of the page, so that it fits on an image of any size. */
function share({ left, top, width, height }: Box, page: PageWords) {
  const percent = (part: number, whole: number) => `${(part / whole) * 100}%`;
  return {
    left: percent(left, page.width),
    top: percent(top, page.height),
    width: percent(width, page.width),
    height: percent(height, page.height),
  };
}

function alternative(name: string, page: PageWords | null, exact: TextRange[]): string {
  if (!page) return name;
  const marked = exact.length > 0 ? exact.flatMap((range) => wordsIn(page, range)) : page.words;
  const text = marked.map((word) => word.text).join(" ");
  const shown = text.length > MAX_ALTERNATIVE ? `${text.slice(0, MAX_ALTERNATIVE)}…` : text;
  return shown ? `${name}, with marked words: ${shown}` : name;
}
