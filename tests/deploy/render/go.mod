module render

go 1.24
