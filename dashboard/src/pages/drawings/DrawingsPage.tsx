/** The page "Drawings": the list, or one drawing. */
import { Route, Routes } from "react-router";
import { DrawingList } from "./DrawingList";
import { DrawingPage } from "./DrawingPage";
import "./drawings.css";

export default function DrawingsPage() {
  return (
    <Routes>
      <Route index element={<DrawingList />} />
      <Route path=":graphId" element={<DrawingPage />} />
    </Routes>
  );
}
