/** The comparison of the drawing with an older version: changes, picture, marks and removed items. */
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { alignment } from "../../features/drawing/alignment";
import { type Change, changeMarks, removedItems, type Shown, shownOf } from "../../features/drawing/changes";
import { type Marks, NO_MARKS } from "../../features/drawing/marks";
import { type DrawingGraph, NO_GRAPH } from "../../features/drawing/model";
import { type Picture, type PictureItem, placedPicture } from "../../features/drawing/picture";
import { changesQuery, graphQuery, pictureQuery, versionsQuery } from "../../features/drawing/queries";
import type { DrawingState } from "./state";

export interface Comparison {
  /** The version that the latest one is compared with. */
  old: string;
  shown: Shown;
  changes: Change[];
  marks: Marks;
  /** The older picture in the place of the new one, if it is shown instead. */
  picture: Picture | null;
  ghosts: ReadonlyMap<string, PictureItem>;
  /** The graph of the picture that is shown. */
  graph: DrawingGraph;
}

const NO_GHOSTS: ReadonlyMap<string, PictureItem> = new Map();
const NO_CHANGES: Change[] = [];

/** Returns null if the page compares nothing. */
export function useComparison(
  graphId: string,
  graph: DrawingGraph,
  picture: Picture,
  state: DrawingState,
): Comparison | null {
  const isWanted = state.panel === "changes" && state.with === null;
  const versions = useQuery({ ...versionsQuery(graphId), enabled: isWanted }).data ?? [];
  // By default what changed last.
  const old = state.old ?? versions[1]?.change_version ?? "";
  const isComparing = isWanted && old !== "";
  const shown = shownOf(state.show);
  const changes = useQuery({ ...changesQuery(graphId, old), enabled: isComparing }).data ?? NO_CHANGES;
  const oldPicture = useQuery({ ...pictureQuery(graphId, old), enabled: isComparing }).data ?? null;
  const oldGraph = useQuery({ ...graphQuery(graphId, old), enabled: isComparing }).data ?? NO_GRAPH;
  const placed = useMemo(
    () => oldPicture && placedPicture(oldPicture, alignment(oldPicture.items, picture.items)),
    [oldPicture, picture],
  );
  return useMemo(() => {
    if (!isComparing) return null;
    const isOld = shown === "old" && placed !== null;
    const shownGraph = isOld ? oldGraph : graph;
    const marks = changes.length > 0 ? changeMarks(shownGraph, changes, shown) : NO_MARKS;
    const ghosts = placed && shown === "both" ? removedItems(changes, placed) : NO_GHOSTS;
    return { old, shown, changes, marks, picture: isOld ? placed : null, ghosts, graph: shownGraph };
  }, [isComparing, old, shown, changes, placed, graph, oldGraph]);
}
